"""Every fact about the documents is shown by a block, in the chapter that it was planned for.

The facts are R01 to R50 (to reproduce) and C01 to C37 (to correct). A chapter names those that it
shows in the table at its end; see `kerascope.lessons.checking`.
"""

from functools import cache

import pytest
from lesson_texts import chapter_of_the_course, chapters_of_the_course

from kerascope.lessons.checking import facts_shown
from kerascope.lessons.lesson import Block, Picture

FACTS = [f"R{n:02}" for n in range(1, 51)] + [f"C{n:02}" for n in range(1, 38)]

# Chapter -> what it was planned to show; a fact may be shown elsewhere too.
PLAN = {
    "0": "R50",
    "1": "R01 R03 R21 R35 R38",
    "2": "R02",
    "3": "R24 R41 C37",
    "4": "R06 R36 R37 C34",
    "5": "R04 R33 R34 R39 C01 C07 C19 C20 C21",
    "6": "R05 R07 R08 R22 R23 R32 C28 C36",
    "7": "R09 R42 C29 C30 C34",
    "8": "R10 R11 R28 R31 C01 C23 C24 C31",
    "9": "R29 R40 C02 C22 C25",
    "10": "R12 R30 R43 C17 C18 C26 C35",
    "11": "R13 C08 C09 C27",
    "12": "R14 R15 R44 C12 C14 C15 C16 C33",
    "13": "C05 C06",
    "14": "R18 R19 R45 R46 R47 R48 R49 C03 C04 C10 C11",
    "15": "R16 R17 R20 C13",
    "16": "C06",
    "17": "R25 R26 R27 C32",
    "18": "R08",
}
shown = cache(facts_shown)


def planned_chapters(fact):
    return [chapter for chapter, facts in PLAN.items() if fact in facts.split()]


def places(fact):
    """Return (chapter's name, block's id) of every block that shows a fact."""
    return [tuple(place.split("#")) for place in shown().get(fact, [])]


def shows_something(lesson, block_id):
    """Tell whether a block prints something, or makes a picture that is shown."""
    block = next(one for one in lesson.parts if isinstance(one, Block) and one.id == block_id)
    drawn = [one for one in lesson.parts if isinstance(one, Picture) and one.made_by == block_id]
    return block.kind == "pycon" or block.output is not None or bool(drawn)


def test_the_plan_holds_every_fact_and_no_other():
    assert sorted({fact for facts in PLAN.values() for fact in facts.split()}) == sorted(FACTS)


def test_there_is_no_table_of_a_fact_that_does_not_exist():
    assert sorted(set(shown()) - set(FACTS)) == []


def test_every_chapter_of_the_plan_is_there():
    there = {chapter.number for chapter in chapters_of_the_course()}
    assert sorted(set(PLAN) - there) == []


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_is_shown_by_a_block_of_the_chapter_that_it_was_planned_for(fact):
    assert places(fact), f"{fact} is shown by no block of any chapter"
    numbers = {name.partition("-")[0].lstrip("0") or "0" for name, _ in places(fact)}
    missing = [chapter for chapter in planned_chapters(fact) if chapter not in numbers]
    assert not missing, f"{fact} is shown in {sorted(numbers)}, not in {missing}"


@pytest.mark.parametrize("fact", FACTS)
def test_in_each_chapter_a_block_that_names_a_fact_shows_something(fact):
    """A block may only prepare what another one prints; one of them has to print."""
    loud = {name: False for name, _ in places(fact)}
    for name, block in places(fact):
        loud[name] |= shows_something(chapter_of_the_course(name).main, block)
    assert all(loud.values()), f"{fact}: nothing is printed for it in {loud}"

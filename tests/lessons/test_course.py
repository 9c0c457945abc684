"""The course itself: every chapter holds, and would not if a line of it were changed."""

import time
from dataclasses import replace

import pytest

from kerascope.lessons.blocks import SESSIONS
from kerascope.lessons.checking import (
    complaints_of,
    difference_of,
    output_complaints,
    stale_pictures,
)
from kerascope.lessons.comparison import ELLIPSIS
from kerascope.lessons.facts import SECTION, facts_shown, rows_of
from kerascope.lessons.folders import chapter_folders, read_chapter, tutorials_folder
from kerascope.lessons.glossary import read_glossary
from kerascope.lessons.runner import run_chapters

NAMES = [folder.name for folder in chapter_folders()]
SECONDS = 60  # for the whole course on two cores that do nothing else


@pytest.fixture(scope="module")
def course():
    """Run all chapters once; return them by name."""
    start = time.perf_counter()
    runs = list(run_chapters([read_chapter(folder) for folder in chapter_folders()]))
    print(f"{len(runs)} chapters in {time.perf_counter() - start:.1f} s")
    return {run.chapter.name: run for run in runs}


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_holds(course, name):
    terms = read_glossary(tutorials_folder() / "glossary.toml")
    run = course[name]
    assert run.chapter.main.blocks
    assert list(run.blocks) == [block.id for block in run.chapter.main.blocks]
    assert not [*complaints_of(run, terms), *stale_pictures(run.chapter)]


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_ends_with_what_the_documents_say_and_what_was_seen(name):
    lesson = read_chapter(tutorials_folder() / name).main
    assert lesson.sections[-1].id == SECTION
    assert rows_of(lesson)


def test_facts_are_found_in_the_blocks_that_show_them():
    shown = facts_shown()
    assert shown["R50"][0] == "00-tools#first-stop"
    assert shown["C34"][0].startswith("00-tools#")


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_every_output_counts(course, name):
    """The mutation test: each stored line is changed alone, and each time it is found."""
    run = course[name]
    changed = 0
    for block in run.chapter.main.blocks:
        if block.output is None:
            continue
        lines = block.output.text.splitlines()
        for place, line in enumerate(lines):
            if line.strip() == ELLIPSIS:
                continue
            other = [*lines[:place], f"{line}~", *lines[place + 1 :]]
            output = replace(block.output, text="\n".join(other) + "\n")
            difference = difference_of(replace(block, output=output), run)
            assert difference is not None, f"{block.id}: {line!r}"
            assert difference.line == place or ELLIPSIS in block.output.text
            changed += 1
    assert changed


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_line_is_named_with_its_chapter_its_block_and_its_place(course, name):
    run = course[name]
    lesson = run.chapter.main
    block = next(one for one in lesson.blocks if one.output and one.kind in SESSIONS)
    first, *rest = block.output.text.splitlines()
    output = replace(block.output, text="\n".join([f"{first}~", *rest]) + "\n")
    section = next(one for one in lesson.sections if block in one.parts)
    parts = tuple(replace(block, output=output) if one is block else one for one in section.parts)
    sections = tuple(
        replace(one, parts=parts) if one is section else one for one in lesson.sections
    )
    (complaint,) = output_complaints(replace(lesson, sections=sections), run)
    place = f"{name}/lesson.en.md:{block.output.first_line}: block '{block.id}'"
    assert complaint.startswith(place)
    assert f"- {first}~" in complaint

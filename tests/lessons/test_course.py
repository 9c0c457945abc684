"""The course itself: every chapter holds, and would not if a line of it were changed."""

import subprocess
from dataclasses import replace

import pytest
from lesson_texts import chapter_of_the_course, chapters_of_the_course

from kerascope.lessons import tutorials_folder
from kerascope.lessons.checking import (
    SECTION,
    complaints_of,
    difference_of,
    facts_shown,
    read_glossary,
    rows_of,
    stale_pictures,
    stored_of,
)
from kerascope.lessons.comparison import ELLIPSIS
from kerascope.lessons.lesson import LANGUAGES
from kerascope.lessons.parser import chapter_folders
from kerascope.lessons.runner import run_chapters

NAMES = [folder.name for folder in chapter_folders()]


@pytest.fixture(scope="module")
def started():
    """The command lines of all processes that running the course has started."""
    return []


@pytest.fixture(scope="module")
def course(started):
    """The chapters by name, run once for all tests."""
    run = subprocess.run

    def noted(words, **options):
        started.append(words)
        return run(words, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(subprocess, "run", noted)
        return {run.chapter.name: run for run in run_chapters(chapters_of_the_course())}


def test_every_chapter_of_the_course_is_run(course):
    assert list(course) == NAMES
    assert len(course) >= 20
    assert all(run.blocks and not run.crash for run in course.values())


def test_a_chapter_is_one_process_in_which_each_block_runs_once(course, started):
    """Importing kerascope again for each block would be most of the time of the course."""
    assert len(started) == len(course)
    assert all("kerascope.lessons.child" in words for words in started)


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_holds(course, name):
    terms = read_glossary(tutorials_folder() / "glossary.toml")
    run = course[name]
    assert run.chapter.main.blocks
    assert list(run.blocks) == [block.id for block in run.chapter.main.blocks]
    assert not [*complaints_of(run, terms), *stale_pictures(run.chapter)]


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_ends_with_what_the_documents_say_and_what_was_seen(name):
    lesson = chapter_of_the_course(name).main
    assert lesson.sections[-1].id == SECTION
    assert rows_of(lesson)


def test_facts_are_found_in_the_blocks_that_show_them():
    shown = facts_shown()
    assert shown["R50"][0] == "00-tools#first-stop"
    assert shown["C34"][0].startswith("00-tools#")


def with_each_line_changed(block):
    """Yield (place, the block with that line changed) for each line that it prints."""
    is_doctest = block.kind == "pycon"
    lines = stored_of(block).splitlines()
    for place, line in enumerate(lines):
        if line.strip() == ELLIPSIS or (is_doctest and line.startswith((">>>", "..."))):
            continue
        text = "\n".join([*lines[:place], f"{line}~", *lines[place + 1 :]]) + "\n"
        if is_doctest:
            yield place, replace(block, code=text)
        else:
            yield place, replace(block, output=replace(block.output, text=text))


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_every_output_counts(course, name):
    """The mutation test: each stored line is changed alone, and each time it is found."""
    run = course[name]
    changed = set()
    for block in run.chapter.main.blocks:
        for place, other in with_each_line_changed(block):
            difference = difference_of(other, run)
            assert difference is not None, f"{block.id}: line {place}"
            assert difference.line == place or ELLIPSIS in stored_of(block)
            changed.add(block.id)
    assert changed == {block.id for block in run.chapter.main.blocks if stored_of(block)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_line_is_named_with_its_chapter_its_block_and_its_place(course, name, language):
    run = course[name]
    lesson = run.chapter.lessons[language]
    block = next(one for one in lesson.blocks if one.output)
    first, *rest = block.output.text.splitlines()
    output = replace(block.output, text="\n".join([f"{first}~", *rest]) + "\n")
    section = next(one for one in lesson.sections if block in one.parts)
    parts = tuple(replace(block, output=output) if one is block else one for one in section.parts)
    sections = tuple(
        replace(one, parts=parts) if one is section else one for one in lesson.sections
    )
    lessons = {**run.chapter.lessons, language: replace(lesson, sections=sections)}
    found = complaints_of(replace(run, chapter=replace(run.chapter, lessons=lessons)), [])
    place = f"{name}/lesson.{language}.md:{block.output.first_line}: block '{block.id}'"
    (complaint,) = [one for one in found if one.startswith(place)]
    assert f"- {first}~" in complaint
    (unlike,) = [one for one in found if "with other text" in one]
    assert f"block {block.id!r}" in unlike

"""A chapter whose number is a letter: it comes last, and is found like the others."""

import pytest
from lesson_texts import EVERY_KIND, write_chapter

from kerascope.cli import main
from kerascope.learn.exercises import chapter_number
from kerascope.lessons.parser import chapter_folders, find_chapter, read_chapter
from kerascope.lessons.reading import chapter_text


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return the folder of a sound course of three chapters, which is run once for all tests."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("A-documents", "10-later", "02-early"):
        write_chapter(folder, EVERY_KIND, name=name)
    words = ["build", "--tutorials", str(folder), "--accept", "--translated", "both"]
    assert main(["lessons", *words]) == 0
    return folder


def test_letters_come_after_numbers(course):
    assert [read_chapter(one).number for one in chapter_folders(course)] == ["2", "10", "A"]


@pytest.mark.parametrize("word", ["A", "a", "documents", "A-documents", "a-documents"])
def test_the_appendix_is_found_by_its_letter_and_by_its_name(course, word):
    assert find_chapter(word, course).name == "A-documents"
    assert chapter_text(word, tutorials=course).startswith("# Kinds\n")


def test_the_appendix_is_checked_alone(course, capsys):
    assert main(["lessons", "check", "--tutorials", str(course), "A"]) == 0
    said = capsys.readouterr().out
    assert "A-documents              6 of 6 blocks run   ok" in said
    assert "10-later" not in said


def test_the_appendix_is_the_last_of_the_index(course, tmp_path):
    pages = tmp_path / "pages"
    assert main(["lessons", "html", "--tutorials", str(course), "-o", str(pages)]) == 0
    index = (pages / "index.html").read_text(encoding="utf-8")
    numbers = [one.partition("<")[0] for one in index.split('<span class="number">')[1:]]
    assert numbers == ["2", "10", "A"]
    last = (pages / "10-later.html").read_text(encoding="utf-8")
    assert 'href="A-documents.html"' in last


def test_exercises_know_it_by_its_letter():
    assert chapter_number("A-documents") == "a"


def test_the_course_has_one():
    assert find_chapter("A").name == chapter_folders()[-1].name == "A-documents"

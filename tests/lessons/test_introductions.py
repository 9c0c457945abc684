"""`chapter.toml`: what a chapter is about, for whom it is, and how long it takes."""

import json
import re

import pytest
from lesson_texts import EVERY_KIND, chapters_of_the_course, write_chapter

from kerascope.lessons.introduction import introduction_complaints
from kerascope.lessons.lesson import LessonError, Prose
from kerascope.lessons.notebook import notebook_text
from kerascope.lessons.parser import read_chapter
from kerascope.lessons.reading import chapter_text
from kerascope.lessons.render_html import chapter_page, index_page

GOOD = """\
minutes = 10

[en]
about = "You see `kinds` of blocks."
for_whom = "For readers of tests."

[zh]
about = "看各种代码块。"
for_whom = "适合读测试的人。"
"""


def chapter_with(tmp_path, text, **more):
    chapter = write_chapter(tmp_path, EVERY_KIND, EVERY_KIND, **more)
    (chapter.folder / "chapter.toml").write_text(text, encoding="utf-8")
    return read_chapter(chapter.folder)


def test_page_index_notebook_and_terminal_say_what_a_chapter_is_about(tmp_path):
    chapter = chapter_with(tmp_path, GOOD)
    page, index = chapter_page(chapter, None, None), index_page([chapter])
    for html in (page, index):
        assert "<p>You see <code>kinds</code> of blocks.</p>" in html
        assert "看各种代码块。" in html
        assert "About 10 minutes." in html
        assert "约 10 分钟。" in html
    assert "For readers of tests." in page
    assert "For readers of tests." not in index
    first = json.loads(notebook_text(chapter, "zh"))["cells"][0]
    assert "适合读测试的人。" in "".join(first["source"])
    text = chapter_text(1, "en", tutorials=tmp_path)
    assert text.startswith(
        "# Kinds\n\nYou see kinds of blocks.\n\nFor readers of tests.\n\nAbout 10 minutes.\n\n|"
    )


def test_a_chapter_without_the_file_has_no_such_lines(tmp_path):
    chapter = write_chapter(tmp_path, EVERY_KIND)
    assert chapter.introduction is None
    assert '<div class="introduction">' not in chapter_page(chapter, None, None)
    assert '<div class="introduction">' not in index_page([chapter])
    assert introduction_complaints(chapter) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("minutes = 10", "minutes = ", "(at line 1, column 11)"),
        ("minutes = 10", "", "minutes: expected a whole number from 1, got None."),
        ("minutes = 10", "minutes = true", "got True."),
        ("minutes = 10", "minutes = 0", "got 0."),
        (
            "minutes = 10",
            'minutes = 10\nexplains = "Node"',
            "explains: expected a list of names, got 'Node'.",
        ),
        (
            "minutes = 10",
            "minutes = 10\nhours = 1",
            "unknown 'hours'. Use: minutes, explains, [en], [zh].",
        ),
        ("[zh]", "[fr]", "unknown 'fr'. Use: minutes, explains, [en], [zh]."),
        (
            'for_whom = "For readers of tests."',
            "",
            "[en] for_whom: expected one or two sentences, got None.",
        ),
        ('"For readers of tests."', '" "', "[en] for_whom: expected one or two sentences, got ' '"),
        ('"看各种代码块。"', "3", "[zh] about: expected one or two sentences, got 3."),
    ],
)
def test_an_invalid_file_is_an_error_with_its_place(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(LessonError, match=re.escape(message)) as error:
        chapter_with(tmp_path, GOOD.replace(old, new))
    assert str(error.value).startswith("01-kinds/chapter.toml: ")


def test_a_language_that_the_chapter_has_and_the_file_lacks_is_a_complaint(tmp_path):
    chapter = chapter_with(tmp_path, GOOD.partition("[zh]")[0])
    (complaint,) = introduction_complaints(chapter)
    assert complaint.startswith("01-kinds/chapter.toml: no [zh]. Add it")
    assert "kinds" in chapter_page(chapter, None, None)


def minutes_of(chapter):
    """Return the minutes as kerascope/lessons/introduction.py says they are measured."""
    lesson = chapter.lessons["en"]
    words = sum(len(re.findall(r"\w+", p.text)) for p in lesson.parts if isinstance(p, Prose))
    predictions = sum(block.predict for block in lesson.blocks)
    players = sum(picture.is_player for picture in lesson.pictures)
    return words / 130 + 0.8 * len(lesson.blocks) + predictions + 3 * players


@pytest.mark.parametrize("chapter", chapters_of_the_course(), ids=lambda chapter: chapter.name)
def test_every_chapter_of_the_course_says_it_and_how_long_it_takes(chapter):
    assert introduction_complaints(chapter) == []
    assert chapter.introduction is not None, "write chapter.toml"
    assert abs(chapter.introduction.minutes - minutes_of(chapter)) <= 5

"""Twins, the numbers of the prose, the glossary."""

import pytest
from lesson_texts import EVERY_KIND, in_chinese, parsed, write_chapter

from kerascope.lessons.checking import (
    accept,
    block_complaints,
    fact_complaints,
    facts_shown,
    glossary_complaints,
    read_glossary,
    twin_complaints,
)
from kerascope.lessons.comparison import unproved_numbers
from kerascope.lessons.lesson import LessonError
from kerascope.lessons.parser import read_chapter
from kerascope.lessons.runner import ChapterRun

# --- twins ----------------------------------------------------------------------------------------

ENGLISH = """\
# Title {#title}

First.

## Part {#part}

Second.

```python {#a}
print(1)
```

```output
1
```
"""
CHINESE = ENGLISH.replace("Title", "题目").replace("Part", "部分")
CHINESE = CHINESE.replace("First.", "其一。").replace("Second.", "其二。")


def held(tmp_path, translated="both"):
    """Write a chapter whose sections know their twins; return how to read it again."""
    chapter = write_chapter(tmp_path, ENGLISH, CHINESE)
    accept(ChapterRun(chapter, {}), translated)
    return read_chapter(chapter.folder)


def changed(chapter, language, old, new):
    path = chapter.lessons[language].path
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read_chapter(chapter.folder)


def test_twins_that_were_held_side_by_side_are_sound(tmp_path):
    chapter = held(tmp_path)
    assert block_complaints(chapter) == []
    assert twin_complaints(chapter) == []


@pytest.mark.parametrize(
    ("language", "old", "new", "words"),
    [
        ("en", "Second.", "Another.", "only in English. Translate it, then run"),
        ("zh", "其二。", "其三。", "only in Chinese. Translate it, then run"),
        ("zh", "部分", "一部", "only in Chinese"),
    ],
)
def test_a_section_that_moves_alone_is_found(tmp_path, language, old, new, words):
    chapter = changed(held(tmp_path), language, old, new)
    (complaint,) = twin_complaints(chapter)
    assert "section 'part'" in complaint
    assert words in complaint
    other = {"en": "zh", "zh": "en"}[language]
    assert f"--translated {other} 01-kinds" in complaint


def test_blank_lines_and_blocks_are_no_words(tmp_path):
    chapter = changed(held(tmp_path), "en", "Second.\n", "Second.\n\n\n")
    assert twin_complaints(chapter) == []


def test_both_sides_changed_is_said_so_and_renewed(tmp_path):
    chapter = changed(held(tmp_path), "en", "Second.", "Another.")
    chapter = changed(chapter, "zh", "其二。", "另一。")
    assert "in both languages" in twin_complaints(chapter)[0]
    accept(ChapterRun(chapter, {}), "zh")
    assert twin_complaints(read_chapter(chapter.folder)) == []


def test_a_side_that_was_not_touched_cannot_be_called_translated(tmp_path):
    chapter = changed(held(tmp_path), "en", "Second.", "Another.")
    with pytest.raises(LessonError, match="its Chinese was not"):
        accept(ChapterRun(chapter, {}), "zh")
    accept(ChapterRun(chapter, {}), "both")
    assert twin_complaints(read_chapter(chapter.folder)) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("print(1)", "print(2)", "block 'a', lesson.zh.md:9 has block 'a', with other text"),
        ("1\n```\n", "2\n```\n", "with other text"),
        ("{#a}", "{#b}", "has block 'b', but both must be equal"),
        ("{#part}", "{#other}", "section 'other'"),
        ("\n## 部分 {#part}", "", "section 'part'"),
    ],
)
def test_other_blocks_are_found(tmp_path, old, new, words):
    assert old in CHINESE
    (complaint,) = block_complaints(write_chapter(tmp_path, ENGLISH, CHINESE.replace(old, new)))
    assert words in complaint


def test_a_chapter_in_one_language_is_not_done(tmp_path):
    chapter = write_chapter(tmp_path, ENGLISH)
    (chapter.folder / "lesson.zh.md").unlink()
    assert block_complaints(read_chapter(chapter.folder)) == []  # a course in one language
    other = tmp_path / "02-more" / "lesson.zh.md"
    other.parent.mkdir()
    other.write_text("# 二 {#two}\n", encoding="utf-8")
    assert block_complaints(read_chapter(chapter.folder)) == [
        "01-kinds: expected lesson.en.md and .zh.md, as in other chapters, got only English."
    ]


# --- facts ---------------------------------------------------------------------------------------

TABLE = """\
# T {#t}

```python {#a}
x = 1
```

## Documents {#documents}

| where | says | saw | block |
|---|---|---|---|
| S4:1 | one (R38, C06) | two | `a` |
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("`a`", "`b`", "lesson.en.md:11: unknown block 'b'"),
        ("`a`", "a", "lesson.en.md:11: the row names no block"),
    ],
)
def test_a_fact_names_the_blocks_that_show_it(tmp_path, old, new, words):
    assert fact_complaints(write_chapter(tmp_path, TABLE)) == []
    assert facts_shown(tmp_path) == {"C06": ["01-kinds#a"], "R38": ["01-kinds#a"]}
    assert words in fact_complaints(write_chapter(tmp_path, TABLE.replace(old, new)))[0]


def test_the_tables_of_both_languages_name_the_same_facts(tmp_path):
    chapter = write_chapter(tmp_path, TABLE, TABLE.replace("C06", "C07"))
    (complaint,) = fact_complaints(chapter)
    assert "must name the same facts" in complaint


# --- numbers --------------------------------------------------------------------------------------

SHOWS = "# T {#t}\n\n{}\n\n```python {{#a}}\nx\n```\n```output\n1,344 of 5569, 0.50\n```\n"


@pytest.mark.parametrize(
    "prose",
    [
        "All 5,569 and 1344 and 0.5.",
        "In all 7{.free}, or `8`{.free}.",
        "S4:51-60, R38, C06, chapter 3, chapters 4 to 6, Keras 2.2.4, Python 3.",
        "`dense_1` and `Dense(64)` and dense_2.",
        "第 5 章到此为止，共 5,569 个。",
        "1. first\n2. second",
    ],
)
def test_numbers_that_are_shown_or_names_or_free_pass(prose):
    assert (
        unproved_numbers(parsed(SHOWS.replace("{}", prose).replace("{{", "{").replace("}}", "}")))
        == []
    )


@pytest.mark.parametrize(
    ("prose", "number"),
    [
        ("All 5,570.", "5,570"),
        ("one\ntwo 3 four", "3"),
        ("`64`", "64"),
        ("共5570个参数。", "5570"),
        ("- item 9", "9"),
        ("| a |\n|---|\n| 12 |", "12"),
        ("3 chapters", "3"),
    ],
)
def test_a_number_that_no_output_shows_is_found(prose, number):
    text = SHOWS.replace("{}", prose).replace("{{", "{").replace("}}", "}")
    (complaint,) = unproved_numbers(parsed(text))
    assert f"no output of this chapter shows {number}. " in complaint


def test_titles_and_pictures_name_no_number_that_is_not_shown():
    text = "# Title 3 {#t}\n\n```python {#a}\nx\n```\n\n![Has 4](out/a.svg){.gen from=a}\n"
    complaints = unproved_numbers(parsed(text))
    assert ["lesson.en.md:1: " in complaints[0], "lesson.en.md:7: " in complaints[1]] == [True] * 2


def test_the_outputs_of_a_doctest_count_and_its_code_does_not():
    text = "# T {#t}\n\nIt is {}.\n\n```pycon {#a}\n>>> 3 + 4\n7\n```\n"
    assert unproved_numbers(parsed(text.replace("{}", "7"))) == []
    assert len(unproved_numbers(parsed(text.replace("{}", "4")))) == 1


# --- glossary -------------------------------------------------------------------------------------

GLOSSARY = """
[[term]]
en = "tensor"
zh = "张量"
not_en = ["multi-array"]
not_zh = ["多维量"]

[[term]]
en = "batch"
zh = "批"
free = true
"""


def complaints(tmp_path, english, chinese):
    path = tmp_path / "glossary.toml"
    path.write_text(GLOSSARY, encoding="utf-8")
    chapter = write_chapter(tmp_path, f"# T {{#t}}\n\n{english}\n", f"# 题 {{#t}}\n\n{chinese}\n")
    return glossary_complaints(chapter, read_glossary(path))


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Two Tensors and a batch.", "两个张量。"),
        ("tensorflow, `tensor`", "没有"),
        ("many\ntensors", "许多张\n量"),
    ],
)
def test_words_with_their_twins_pass(tmp_path, english, chinese):
    assert complaints(tmp_path, english, chinese) == []


@pytest.mark.parametrize(
    ("english", "chinese", "words"),
    [
        ("A tensor.", "一个东西。", "expected '张量' in lesson.zh.md"),
        ("A thing.", "张量。", "expected 'tensor' in lesson.en.md"),
        ("A multi-array.", "东西。", "lesson.en.md:3: write 'tensor', not 'multi-array'"),
        ("A thing.", "多维量。", "lesson.zh.md:3: write '张量', not '多维量'"),
    ],
)
def test_words_of_the_glossary_are_demanded(tmp_path, english, chinese, words):
    (complaint,) = complaints(tmp_path, english, chinese)
    assert words in complaint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[term]]\nen = "a"\n', "lacks a language"),
        ('[[term]]\nen = "a"\nzh = "b"\nfr = "c"\n', "unknown fr"),
        ('[[term]]\nen = "a"\nzh = "b"\n' * 2, "twice"),
        ("[[term\n", "glossary.toml"),
    ],
)
def test_a_glossary_that_cannot_be_read_is_refused(tmp_path, text, words):
    path = tmp_path / "glossary.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LessonError, match=words):
        read_glossary(path)


def test_the_chinese_of_the_small_lesson_is_another_text():
    assert in_chinese(EVERY_KIND) != EVERY_KIND

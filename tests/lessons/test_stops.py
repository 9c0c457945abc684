"""Stops of the debugger are stored without numbers of lines, and shown with those of today."""

import random
import re
from pathlib import Path

import pytest
from lesson_texts import chapter_of_the_course, chapters_of_the_course, write_chapter

import kerascope
from kerascope.cli import main
from kerascope.lessons import stops
from kerascope.lessons.comparison import compare
from kerascope.lessons.lesson import LANGUAGES
from kerascope.lessons.notebook import notebook_text
from kerascope.lessons.reading import chapter_text
from kerascope.lessons.render_html import chapter_page
from kerascope.lessons.stops import (
    PRINTED,
    Source,
    name_places,
    number_places,
    source_of,
)

PACKAGE = Path(kerascope.__file__).parent
OURS = re.compile(r"(?<![\w/.])kerascope/[\w/]+\.py[(:]\S+")
UNNUMBERED = re.compile(r"kerascope/[\w/]+\.py(?:\((?:N\d*|«)|:[A-Za-z_<])")
SMALL = """\
class A:
    @mark
    def f(self):
        "Text."
        x = 1
        x = 1
        return x


def f():
    return 2
"""
LESSON = """\
# Stops {{#stops}}

```python {{#stop}}
import inspect

from kerascope.lessons import comparison

words = inspect.getsource(comparison.same_float).splitlines()[0]
file, line = "kerascope/lessons/comparison.py", comparison.same_float.__code__.co_firstlineno
print(f"> {{file}}({{line}})same_float()\\n-> {{words}}")
print(f"Breakpoint 1 at {{file}}:{{line}}")
```

```output
{}
```
"""


def outputs():
    """Return (where, text) for each stored output of the course, in both languages."""
    return [
        (f"{chapter.name} {language} {block.id}", block.output.text)
        for chapter in chapters_of_the_course()
        for language, lesson in chapter.lessons.items()
        for block in lesson.blocks
        if block.output
    ]


def players():
    return [
        (path.name, path.read_text("utf-8"))
        for c in chapters_of_the_course()
        for path in c.folder.glob("out/*.html")
    ]


A_PLACE = re.compile(r"kerascope/[\w/]+\.py[:(]")  # an example in a docstring may name one itself


def places_of_the_package(number, most_files):
    """Return some lines of the package, drawn by lot, as (file, line, function, words)."""
    files = sorted(path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py"))
    random.Random(7).shuffle(files)
    files = files[:most_files]
    every = [
        (file, line, function)
        for file in files
        for function in source_of(file).functions
        for line in range(function.first, function.last + 1)
        # Lines that spell out how a place is written cannot be told from one.
        if (words := source_of(file).words(line)) and not A_PLACE.search(words) and "«" not in words
    ]
    for file, line, function in random.Random(7).sample(every, number):
        yield file, line, function.name, source_of(file).words(line)


@pytest.mark.parametrize("most_files", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_place_anywhere_in_the_package_comes_back_with_its_number(most_files):
    for file, line, name, words in places_of_the_package(200, most_files):
        function = name.rpartition(".")[2]
        stop = f"> {file}({line}){function}()\n-> {words}"
        row = f"  visit  {file}({line}){function}()  example.py:3"
        for printed in (stop, row):
            assert not re.search(rf"\({line}\)", name_places(printed))
            assert number_places(name_places(printed)) == printed
        breakpoint = f"Breakpoint 1 at {file}:{line}"
        again = number_places(name_places(breakpoint))
        first = source_of(file).function_at(line)
        assert again == breakpoint or again.endswith(f":{first.first}")  # in the head of it
        assert line <= first.body or again == breakpoint


def moved(text, lines):
    """Return a source with comments above everything, and between."""
    return "# new\n" * lines + text


@pytest.fixture
def small(monkeypatch):
    """A file of the package that a test may change."""
    texts = {"kerascope/a.py": SMALL}
    monkeypatch.setattr(stops, "source_of", lambda file: Source(texts.get(file, "")))
    return texts


@pytest.mark.parametrize(
    ("printed", "stored"),
    [
        ("> kerascope/a.py(7)f()\n-> return x", "> kerascope/a.py(N)f()\n-> return x"),
        ("> kerascope/a.py(5)f()\n-> x = 1", "> kerascope/a.py(N)f()\n-> x = 1"),
        ("> kerascope/a.py(6)f()->1\n-> x = 1", "> kerascope/a.py(N2)f()->1\n-> x = 1"),
        ("> kerascope/a.py(7)f()\n(Pdb) q", "> kerascope/a.py(«return x»)f()\n(Pdb) q"),
        ("  row kerascope/a.py(6)f()  b.py:3", "  row kerascope/a.py(«x = 1»2)f()  b.py:3"),
        ("  row kerascope/a.py(10)f()", "  row kerascope/a.py(«def»2)f()"),
        ("Breakpoint 1 at kerascope/a.py:2", "Breakpoint 1 at kerascope/a.py:A.f"),
        ("at kerascope/a.py:6", "at kerascope/a.py:A.f«x = 1»2"),
        ('"kerascope/a.py:11",', '"kerascope/a.py:f",'),
        ("> example.py(7)f()\n-> return x", "> example.py(7)f()\n-> return x"),
        ("/x/kerascope/a.py(7)f()", "/x/kerascope/a.py(7)f()"),
    ],
)
def test_a_place_is_stored_by_what_stands_there(small, printed, stored):
    assert name_places(printed) == stored
    if printed != '"kerascope/a.py:11",':
        assert number_places(stored) == printed
    assert number_places(printed) == printed
    assert name_places(stored) == stored


def test_what_is_stored_stays_when_lines_move_and_the_page_has_the_new_number(small):
    printed = "> kerascope/a.py(7)f()\n-> return x\nBreakpoint 1 at kerascope/a.py:2"
    stored = name_places(printed)
    small["kerascope/a.py"] = moved(small["kerascope/a.py"], 30)
    later = "> kerascope/a.py(37)f()\n-> return x\nBreakpoint 1 at kerascope/a.py:32"
    assert number_places(stored) == later
    assert name_places(later) == stored


@pytest.mark.parametrize(
    ("old", "new"),
    [("return x", "return 2 * x"), ("def f(self)", "def g(self)"), ("class A", "class B")],
)
def test_what_is_stored_does_not_hold_when_something_else_stands_there(small, old, new):
    small["kerascope/a.py"] = small["kerascope/a.py"].replace("\n\n\ndef f():\n    return 2", "")
    stored = "> kerascope/a.py(N)f()\n-> return x\nBreakpoint 1 at kerascope/a.py:A.f"
    small["kerascope/a.py"] = small["kerascope/a.py"].replace(old, new)
    words = "return 2 * x" if new.startswith("return") else "return x"
    name = "g" if new.startswith("def g") else "f"
    printed = f"> kerascope/a.py(7){name}()\n-> {words}\nBreakpoint 1 at kerascope/a.py:2"
    assert compare(stored, name_places(printed)) is not None
    assert UNNUMBERED.search(number_places(stored)), "no number is made up for what is not there"


# --- the course -----------------------------------------------------------------------------------


def test_no_stored_output_holds_the_number_of_a_line_of_ours():
    found = [(where, place[0]) for where, text in [*outputs(), *players()]
             for place in PRINTED.finditer(text)]  # fmt: skip
    assert found == []
    stored = [place for _, text in outputs() for place in OURS.findall(text)]
    assert len(stored) > 300  # both languages


def test_every_stored_place_is_there_and_gets_its_number():
    """What holds no place that is gone: the statement, the function and the file."""
    left = [(where, place[0]) for where, text in [*outputs(), *players()]
            for place in UNNUMBERED.finditer(number_places(text))]  # fmt: skip
    assert left == []
    for where, text in outputs():
        assert name_places(number_places(text)) == text, where


def other_stops(text):
    """Yield a stored output with one of its stops changed: a number, a function, a statement."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        changes = [
            re.sub(r"\.py\(N\d*\)", ".py(93)", line),
            re.sub(r"\.py\(N\d*\)", ".py(N9)", line),
            re.sub(r"(\.py\(.*?\))(\w+)\(", r"\1other_\2(", line),
            re.sub(r"(\.py):[\w.]+", r"\1:93", line),
            re.sub(r"(\.py):[\w.]+", r"\1:other", line),
            re.sub(r"«.*»", "«other»", line),
        ]
        for changed in changes:
            if OURS.search(line) and changed != line:
                yield "\n".join([*lines[:place], changed, *lines[place + 1 :]])


def test_a_stop_that_is_stale_in_any_way_is_a_difference():
    number = 0
    for where, text in outputs():
        for other in other_stops(text):
            number += 1
            assert compare(other, text) is not None, where
    assert number > 800


@pytest.mark.parametrize("name", ["08-network-1", "14-update-tuples"])
def test_pages_notebooks_and_the_terminal_show_numbers(name):
    chapter = chapter_of_the_course(name)
    pages = [chapter_page(chapter, None, None)]
    for language in LANGUAGES:
        pages += [notebook_text(chapter, language), chapter_text(name, language)]
    for page in pages:
        assert not UNNUMBERED.search(page)
        assert PRINTED.search(page.replace("&gt;", ">"))


def test_one_command_writes_stops_as_they_are_now(tmp_path, capsys):
    stale = "> kerascope/lessons/comparison.py(9)same_float()\n-> old\nBreakpoint 1 at old.py:3"
    chapter = write_chapter(tmp_path, LESSON.format(stale), name="01-stops")
    words = ["lessons", "build", "--tutorials", str(tmp_path)]
    assert main(words) == 1
    assert "block 'stop': the output differs" in capsys.readouterr().out
    assert main([*words, "--accept", "--translated", "both"]) == 0
    text = (chapter.folder / "lesson.zh.md").read_text(encoding="utf-8")
    assert "> kerascope/lessons/comparison.py(N)same_float()\n-> def same_float(" in text
    assert "Breakpoint 1 at kerascope/lessons/comparison.py:same_float\n" in text

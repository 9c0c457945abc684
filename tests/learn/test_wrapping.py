"""Tasks, hints and tables on a terminal that is narrower than they are written."""

import re

import pytest
from rich.cells import cell_len

from kerascope.learn import pages
from kerascope.learn.exercises import Workbook, all_exercises
from kerascope.lessons.lesson import BREAK, BREAKS

EXERCISES = all_exercises()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_title_continues_below_its_own_column(tmp_path, width):
    workbook = Workbook(tmp_path, EXERCISES)
    for text in pages.table(workbook, EXERCISES, width):
        lines = text.split("\n")[:-1]
        assert all(cell_len(line) <= width for line in lines)
        more = [line for line in lines if not line[10:12].strip()]
        assert all(line.startswith(" " * 30) for line in more)
        assert len(lines) - len(more) == len(EXERCISES)
    wide = pages.table(workbook, EXERCISES)
    assert len(wide.en.split("\n")) == len(EXERCISES) + 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_task_is_wrapped_anew_without_half_lines(language):
    for exercise in EXERCISES:
        task = exercise.task.within(language)
        lines = pages.wrapped(BREAKS.sub(BREAK, pages.unwrapped(task)), 80)
        assert all(cell_len(line) <= 80 for line in lines)
        assert "".join("".join(lines).split()) == "".join(task.split())


def test_code_output_and_items_keep_their_lines():
    full = "x" * 95
    for line in ("    code", "- item", "  - item", "2. item", "  | said", "`f(x)`: text"):
        assert pages.unwrapped(f"{full}\n{line}") == f"{full}\n{line}"
    assert pages.unwrapped(f"{full}\nword") == f"{full} word"
    assert pages.unwrapped("short\nword") == "short\nword"
    assert pages.unwrapped(f"{'字' * 48}\n字") == "字" * 49


def test_the_commands_below_a_task_are_in_one_column(tmp_path):
    for exercise in EXERCISES:
        page = pages.exercise_page(exercise, tmp_path / "answer.py", " x")
        for language, word in (("en", "the chapter"), ("zh", "本章课文")):
            lines = page.within(language).split("\n")
            lines = lines[next(n for n, line in enumerate(lines) if line.startswith(word)) :]
            assert len({cell_len(line[: re.search(r" {2,}", line).end()]) for line in lines}) == 1

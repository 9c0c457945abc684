"""Cells laid out in lines: nothing is lost, nothing is too wide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerascope.viz.table_layout import (
    Cell,
    Column,
    broken,
    columns_of,
    natural_width,
    table_lines,
    wrapped,
)

TEXTS = st.text(st.sampled_from("ab_/ ,日本é😀[]"), max_size=40)


def text_of(lines):
    return ["".join(text for text, _ in line) for line in lines]


def column(title, *texts, **options):
    return Column(title, [Cell([[(text, "")]] if text else []) for text in texts], **options)


def table(name, shape="(None, 112, 112, 64)", number="1,234"):
    return [
        column("Layer (type)", name),
        column("Output shape", shape, is_whole=True),
        column("Params", number, is_number=True),
    ]


@given(TEXTS, st.integers(2, 12))
def test_a_broken_text_fits_and_loses_only_spaces_at_the_breaks(text, width):
    parts = broken(text, width)
    assert all(columns_of(part) <= width for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_a_shape_is_broken_between_its_parts_and_a_name_behind_a_sign():
    assert broken("(None, 112, 112, 64)", 16) == ["(None, 112, 112,", "64)"]
    assert broken("conv2_block1_1_conv", 12) == ["conv2_", "block1_1_", "conv"]
    assert broken("x" * 7, 3) == ["xxx", "xxx", "x"]


def test_a_letter_that_is_wider_than_the_column_is_kept_all_the_same():
    assert broken("日本", 1) == ["日", "本"]


def test_wide_letters_count_twice():
    assert [columns_of(text) for text in ("ab", "日本", "😀", "é")] == [2, 4, 2, 1]


def test_what_fits_stands_in_one_line():
    columns = table("conv (Conv2D)")
    lines = text_of(table_lines(columns, natural_width(columns)))
    assert lines == [
        "Layer (type)  │ Output shape         │ Params",
        "──────────────┼──────────────────────┼───────",
        "conv (Conv2D) │ (None, 112, 112, 64) │  1,234",
    ]


def test_names_are_folded_before_shapes():
    columns = [
        Column("Layer (type)", [Cell([[("conv2_block1", ""), ("(Conv2D)", "dim")]])]),
        *table("")[1:],
    ]
    assert text_of(table_lines(columns, natural_width(columns) - 1)) == [
        "Layer (type)         │ Output shape         │ Params",
        "─────────────────────┼──────────────────────┼───────",
        "conv2_block1         │ (None, 112, 112, 64) │  1,234",
        "(Conv2D)             │                      │",
    ]


def test_then_the_name_has_a_line_of_its_own_and_then_every_row_is_a_record():
    columns = table("conv2_block1")
    assert text_of(table_lines(columns, 36)) == [
        "Layer (type)",
        "  Output shape         │ Params",
        "───────────────────────┼───────",
        "conv2_block1",
        "  (None, 112, 112, 64) │  1,234",
    ]
    assert text_of(table_lines(columns, 28)) == [
        "─" * 28,
        "conv2_block1",
        "  Output shape",
        "  (None, 112, 112, 64),",
        "  Params 1,234",
    ]


def test_an_empty_cell_of_a_record_is_not_named():
    lines = text_of(table_lines([column("a", "x"), column("b", ""), column("c", "y" * 40)], 20))
    assert "b" not in "".join(lines)


def test_rows_inside_a_row_are_moved_to_the_right_with_all_their_lines():
    cell = Cell([[("a" * 12, ""), ("(Dense)", "")]], level=2)
    assert text_of(wrapped(cell, 18)) == ["  └ " + "a" * 12, "    (Dense)"]


def test_deep_levels_leave_room_for_the_text():
    (line, *_) = wrapped(Cell([[("a" * 30, "")]], level=50), 20)
    assert columns_of("".join(text for text, _ in line)) <= 20


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.integers(20, 90))
def test_no_line_is_too_wide_and_no_letter_is_lost(rows, width):
    columns = [
        Column("Layer (type)", [Cell([[(a, ""), ("(Dense)", "")]]) for a, _ in rows]),
        Column("Output shape", [Cell([[("(None, 4)", "")]]) for _ in rows], is_whole=True),
        Column("Connected to", [Cell([[(b, "dim")]]) for _, b in rows]),
    ]
    lines = text_of(table_lines(columns, width))
    assert max(map(columns_of, lines)) <= width
    plain = "".join(lines)
    for sign in "ab_/日本é😀[]":
        there = sum(a.count(sign) + b.count(sign) for a, b in rows)
        assert plain.count(sign) >= there


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_table_without_rows_has_its_titles(width):
    lines = text_of(table_lines([Column("Layer (type)", []), Column("Params", [])], width))
    assert "Layer" in "".join(lines)

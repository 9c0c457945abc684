"""Repeated blocks of a summary stand there once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zoo import THINNED_ZOO, ZOO

from kerascope import Input, Model, Sequential, applications
from kerascope.engine.costs import Cost
from kerascope.engine.summary import SummaryRow, folded, summarize
from kerascope.layers import Dense, Dropout


def chain_of(classes):
    """Return rows of a chain of layers, each of one parameter."""
    before = ["", *[f"layer_{place}" for place in range(len(classes))]]
    return [
        SummaryRow(f"layer_{place}", name, -place, (None, 1), 1, (before[place],), True)
        for place, name in enumerate(classes)
    ]


def unfolded(rows):
    """Return the classes of folded rows with every block as often as it stands for."""
    classes, place = [], 0
    while place < len(rows):
        row = rows[place]
        place += 1
        if row.copies == 1:
            classes.append(row.class_name)
            continue
        block = []
        while place < len(rows) and rows[place].level > row.level:
            block.append(rows[place].class_name)
            place += 1
        classes += block * row.copies
    return classes


@given(st.lists(st.sampled_from("AB"), max_size=30))
@settings(max_examples=200, deadline=None)
def test_what_is_folded_can_be_unfolded(classes):
    rows = chain_of(classes)
    short = folded(rows)
    assert unfolded(short) == list(classes)
    assert sum(row.parameters for row in short if row.level == 0) == len(classes)
    assert len(short) <= len(rows)


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_nothing_that_differs_is_folded(name):
    model = ZOO[name]()
    assert summarize(model, fold=True).rows == summarize(model).rows


def test_blocks_of_resnet50_begin_where_their_names_do():
    summary = summarize(applications.ResNet50(weights=None), fold=True, flops=True)
    headings = {row.layer: row.copies for row in summary.rows if row.copies > 1}
    assert headings == {
        "conv2_block2_* … conv2_block3_*": 2,
        "conv3_block2_* … conv3_block4_*": 3,
        "conv4_block2_* … conv4_block6_*": 5,
        "conv5_block2_* … conv5_block3_*": 2,
    }
    assert len(summary.rows) < 110
    whole = sum(row.parameters for row in summary.rows if row.level == 0)
    assert whole == summary.total.numbers == 25_636_712
    costs = sum(row.multiply_adds.fixed for row in summary.rows if row.level == 0)
    assert Cost(costs) == summary.multiply_adds


def test_a_row_of_equal_layers_is_folded_from_three_on():
    def rows(number):
        layers = [Dense(8, name=f"dense_{i}") for i in range(number)]
        model = Sequential([*layers, Dense(1, name="out")])
        model.build((None, 8))
        return summarize(model, fold=True).rows

    assert [row.copies for row in rows(2)] == [1] * 4
    heading = rows(5)[1]
    assert (heading.layer, heading.copies, heading.parameters) == ("dense_0 … dense_4", 5, 360)


def test_blocks_without_a_common_name_are_called_by_the_first_and_the_last_layer():
    x = h = Input((8,), name="x")
    for number in range(3):
        h = Dropout(0.1, name=f"drop{number}")(Dense(8, name=f"dense{number}")(h))
    rows = summarize(Model(x, h), fold=True).rows
    assert [row.layer for row in rows] == ["x", "dense0 … drop2", "dense0", "drop0"]


def test_inner_rows_go_with_their_model():
    x = h = Input((8,), name="x")
    for number in range(3):
        inner = Input((8,), name=f"in_{number}")
        h = Model(inner, Dense(8, name=f"dense_{number}")(inner), name=f"model_{number}")(h)
    summary = summarize(Model(x, h), fold=True, expand_nested=True)
    found = [(row.level, row.layer) for row in summary.rows]
    assert found == [
        (0, "x"), (0, "model_0 … model_2"), (1, "model_0"), (2, "in_0"), (2, "dense_0"),
    ]  # fmt: skip
    assert summary.rows[1].parameters == 3 * 72

import re

import numpy as np
import pytest
from holding import holds_for
from strategies import build, recipes
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.backend.graph import applies_in_order
from kerascope.backend.ops.scan import Scan
from kerascope.errors import ArgumentError, DtypeError
from kerascope.viz.exports.to_tree import DEEPEST, to_tree


def lines_of(text):
    return [line for line in text.split("\n") if line]


def expected_number_of_lines(results):
    """One line for every result and every input of every op; a title and the step of a loop."""
    number = len(results)
    for apply in applies_in_order(results):
        number += len(apply.inputs)
        if isinstance(apply.op, Scan):
            number += 1 + expected_number_of_lines(apply.op.inner.results.all())
    return number


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_there_is_one_line_for_every_input_of_every_op(name):
    model = ZOO[name]()
    lines = lines_of(to_tree(model.outputs))
    below = [line for line in lines if "see below" in line]
    continued = len({re.search(r"\[(\d+)\] ", line)[0] for line in below})
    assert len(lines) == expected_number_of_lines(model.outputs) + continued


@holds_for(recipes(), few=12, many=40)
def test_every_op_is_printed_once_and_every_number_leads_to_one(recipe):
    outputs = build(recipe).outputs
    lines = lines_of(to_tree(outputs, shapes=False))
    whole = [line for line in lines if " … see " not in line]
    leaf = re.compile(r"(placeholder|variable|constant) ")
    assert sum(not leaf.search(line) for line in whole) == len(applies_in_order(outputs))
    numbers = [found[0] for line in whole if (found := re.search(r"\[(\d+)\] ", line))]
    assert len(set(numbers)) == len(numbers)
    above = [line for line in lines if "see above" in line]
    assert {re.search(r"\[(\d+)\] ", line)[0] for line in above} <= set(numbers)


def test_an_op_that_is_used_twice_is_printed_once_with_a_number():
    x = K.placeholder(shape=(3,), name="x")
    y = K.exp(x)
    assert to_tree(y * y, shapes=False) == (
        "multiply\n├─ [1] exp\n│  └─ placeholder x\n└─ [1] exp … see above"
    )


def test_length_is_linear_where_paths_double():
    y = K.placeholder(shape=(3,), name="x")
    for _ in range(100):
        y = y + y
    assert len(lines_of(to_tree(y))) < 250


@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_very_deep_graphs_go_on_at_the_left_margin(count):
    y = K.placeholder(shape=(3,), name="x")
    for _ in range(count):
        y = K.exp(y)
    text = to_tree(y)
    assert text.count("see below") == count // DEEPEST - 1 + bool(count % DEEPEST)
    assert max(map(len, text.split("\n"))) < 100
    assert len(lines_of(text)) == count + 1 + text.count("see below")


def test_what_is_too_deep_once_and_near_later_is_printed_where_it_is_near():
    x = K.placeholder(shape=(3,), name="x")
    first = K.tanh(x)
    y = first
    for _ in range(DEEPEST - 1):
        y = K.exp(y)
    text = to_tree(y + first, shapes=False)
    assert text.split("\n")[-3:] == [
        "│  " + "   " * (DEEPEST - 2) + "└─ [1] tanh … see below",
        "└─ [1] tanh",
        "   └─ placeholder x",
    ]


def test_names_say_the_scope_and_the_op():
    x = K.placeholder(shape=(3,), name="x")
    with K.name_scope("dense_1"):
        y = K.exp(x)
    assert to_tree(y, shapes=False).startswith("dense_1/exp\n")
    assert to_tree(y, names=False, shapes=False).startswith("exp\n")


def test_shapes_stand_below_each_other():
    lines = to_tree(ZOO["diamond"]().outputs).split("\n")
    assert len({re.search(r" {2,}\(", line).end() for line in lines}) == 1


def test_ascii_only():
    x = K.placeholder(shape=(3,), name="größe")
    y = K.exp(x)
    text = to_tree([y + y, None], ascii_only=True)
    assert text.isascii()
    assert "`- [1] exp ... see above" in text


def test_a_name_with_line_breaks_stays_on_one_line():
    x = K.placeholder(shape=(3,), name="two\nlines")
    assert len(to_tree(K.exp(x)).split("\n")) == 2


def test_a_function_shows_its_outputs_and_its_updates():
    x, w = K.placeholder(shape=(), name="x"), K.variable(1.0, name="w")
    function = K.function([x], [w * x], updates=[(w, w + x)])
    assert to_tree(function, shapes=False) == (
        "multiply\n├─ variable w\n└─ placeholder x\nw ← add\n├─ variable w\n└─ placeholder x"
    )


def test_what_a_function_is_fed_is_not_taken_apart():
    x = K.placeholder(shape=(2,), name="x")
    middle = K.exp(x)
    text = to_tree(K.function([middle], [K.tanh(middle)]), shapes=False)
    assert text == "tanh\n└─ placeholder exp"


def test_one_step_of_a_loop_follows_behind():
    x = K.variable(np.ones((2, 4, 3)), name="x")
    start = K.variable(np.zeros((2, 3)), name="start")
    _, _, (state,) = K.rnn(lambda x, states: (x, [states[0] + x]), x, [start])
    text = to_tree(state, shapes=False)
    assert text.startswith("[1] scan:2 (1 op a step, 1 sequence, 1 state)\n")
    assert "├─ sequence 0: transpose (pattern=(1, 0, 2))" in text
    assert "└─ state 0: variable start" in text
    assert text.endswith(
        "\n\n[1] scan: one step\n├─ output 0: sequence 0\n└─ state 0 ← step/add\n"
        "   ├─ state 0\n   └─ sequence 0"
    )


def test_errors_say_what_was_expected():
    with pytest.raises(DtypeError, match=r"got Model\. Write to_tree\(model\.outputs\)"):
        to_tree(ZOO["chain"]())
    with pytest.raises(ArgumentError, match="expected tensors or a function, got none"):
        to_tree([])

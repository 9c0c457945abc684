"""Loops as programs: where their arrays lie, and what is done outside of a step."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import layers
from kerascope.backend.ops.indexing import PutItem, Span
from kerascope.backend.ops.scan import scan
from tests.backend.test_compiled_loops import (
    calls_of_layer,
    computed,
    loops_behind,
    numbers,
    same_bits,
)


def step_lines(program):
    """Return the lines of the text that run at each step."""
    text = program.source.splitlines()
    start = next(n for n, line in enumerate(text) if line.endswith("in steps:"))
    indent = len(text[start]) - len(text[start].lstrip())
    inside = [line for line in text[start + 1 :] if len(line) - len(line.lstrip()) > indent]
    return [line.strip() for line in inside]


def test_histories_and_last_states_are_computed_where_they_are_wanted():
    (forward, arrays), _ = calls_of_layer(layers.LSTM(4))
    program, came, expected = computed(forward, arrays, rewrites=True)
    for one, other in zip(came, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    copied = [line for line in program.source.splitlines() if "[1:]" in line or "[:-1]" in line]
    # Of the two states the output is one: it has its own sequence, and its history is a copy.
    assert len(copied) <= 1


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("wanted", [[0], [1], [0, 1], [1, 2], [2], [0, 1, 2]])
def test_states_that_nobody_keeps_take_turns(steps, backwards, wanted):
    x, start = K.placeholder((steps, 2)), K.placeholder((2,))
    _, last = scan(
        lambda s, h: ([s[0] * 2.0], [h[0] * 0.5 + s[0]]), [x], [start], backwards=backwards
    )
    arrays = [numbers(steps, 2), np.ones(2, "float32")]
    for rewrites in (False, True):
        _, came, expected = computed(last[0].owner, arrays, rewrites, wanted)
        for one, other in zip(came, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("steps", [1, 7, 8, 9, 40])
def test_what_needs_no_state_is_computed_for_some_steps_at_once(steps):
    layer, x = layers.LSTM(32), K.placeholder((32, steps, 4))
    grads = K.gradients(K.sum(layer(x)), layer.trainable_weights)
    reverse, arrays = loops_behind(grads, [x])[1]
    program, came, expected = computed(reverse, arrays, rewrites=True)
    assert program.source.splitlines()[0].startswith("def loop(blocks, ")
    for one, other in zip(came, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    assert not any("square" in line for line in step_lines(program))


def test_one_number_goes_into_what_is_known_before():
    reverse, arrays = calls_of_layer(layers.LSTM(4))[1]
    lines = step_lines(computed(reverse, arrays, rewrites=True)[0])
    assert not any("_0_2" in line for line in lines)
    assert sum(line.startswith("np.add(") for line in lines) == 1


def test_an_input_of_which_only_the_shape_counts_is_named():
    forward, reverse = (apply for apply, _ in calls_of_layer(layers.LSTM(4)))
    assert forward.op.inputs_read_by_shape == frozenset()
    named = {reverse.inputs[n].name for n in reverse.op.inputs_read_by_shape}
    assert forward.inputs[0].name in named
    (_, _), (_, arrays) = calls_of_layer(layers.LSTM(4))
    program, came, _ = computed(reverse, arrays, rewrites=True)
    for number in reverse.op.inputs_read_by_shape:
        arrays[number] = np.full_like(arrays[number], np.nan)
    again = [np.empty_like(y) for y in came]
    program(again, *arrays)
    assert same_bits(came, again)


def side_by_side(first, second):
    """Return two arrays of shape (2, 3) as one, as the gradients of two slices are added up."""
    whole = K.constant(0.0, shape=(2, 6))
    places = [(Span(None, None), Span(*bounds)) for bounds in ((0, 3), (3, 6))]
    return PutItem(places[0])(first, whole) + PutItem(places[1])(second, whole)


@pytest.mark.parametrize(
    "look",
    [
        lambda part, whole: part,
        lambda part, whole: part[:, ::-1],
        lambda part, whole: part[::-1][:, ::-1],
        lambda part, whole: whole[:, :3],
        lambda part, whole: whole[:, 2:5][:, ::-1],
    ],
    ids=["part", "view of a part", "view of a view", "view of the whole", "view of both parts"],
)
def test_memory_is_not_used_again_while_somebody_reads_a_part_of_it(look):
    def step(slices, states):
        (x,), (h,) = slices, states
        part = K.exp(x + h)
        whole = side_by_side(part, x * h)
        seen = look(part, whole)
        total = K.sum(seen) + K.sum(whole)  # the last time that the whole itself is read
        other = side_by_side(K.tanh(h * total), x - h * total)
        return [K.sum(K.square(other)) + seen * total], [K.tanh(h + K.mean(other))]

    x, start = K.placeholder((4, 2, 3)), K.placeholder((2, 3))
    outputs, _ = scan(step, [x], [start])
    arrays = [numbers(4, 2, 3), np.ones((2, 3), "float32")]
    program, came, expected = computed(outputs[0].owner, arrays, rewrites=True)
    assert "put_item" not in program.source  # else there are no parts
    for one, other in zip(came, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)

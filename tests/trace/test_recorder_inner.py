"""The layers of a nested model, or of a wrapper, have calls of their own when a function runs."""

import numpy as np
import pytest
from recorded import assert_balanced, recorded

from kerascope.layers import LSTM, Add, Bidirectional, Dense, Input, Layer, TimeDistributed
from kerascope.models import Model
from kerascope.trace.events import BEGIN, END
from kerascope.trace.history import value_of_event


class Two(Layer):
    """A layer that holds another one, and does more than it."""

    def __init__(self, **words):
        super().__init__(**words)
        self.held = Dense(3, activation="tanh", name="held")

    def call(self, x):
        return self.held(x) * 2.0

    def compute_output_shape(self, shape):
        return (*shape[:-1], 3)


def inner(name="inner"):
    x = Input((3,), name="x")
    return Model(x, Dense(3, activation="relu", name="deep")(x), name=name)


def deep():
    a = Input((3,), name="a")
    return Model(a, Dense(1, name="head")(inner()(a)))


def deeper():
    a, b = Input((3,), name="a"), Input((3,), name="b")
    return Model(b, Dense(1, name="head")(Model(a, inner()(a), name="outer")(b)))


def in_time():
    a = Input((4, 3), name="a")
    return Model(a, Dense(1, name="head")(TimeDistributed(inner(), name="td")(a)))


def held():
    a = Input((3,), name="a")
    return Model(a, Dense(1, name="head")(Two(name="two")(a)))


def both_ways():
    a = Input((4, 3), name="a")
    return Model(a, Dense(1, name="head")(Bidirectional(LSTM(2, name="lstm"), name="bi")(a)))


def paths(tape, phase):
    """Return the nested names of the calls in a phase of the first batch, each once."""
    found, names = [], []
    for event in tape:
        if event.kind == "commit":
            break
        if (event.kind, event.phase) == ("node", phase):
            if event.ph == BEGIN:
                names.append(event.name)
                found.append("/".join(names))
            else:
                names.pop()
    return [path for path in dict.fromkeys(found) if "loss" not in path]


def fitted(model, **options):
    model.compile("sgd", "mse")
    x, y = (np.ones((4, *t.shape[1:])) for t in (model.inputs[0], model.outputs[0]))
    tape = recorded(lambda: model.fit(x, y, verbose=0), **options).tape
    assert_balanced(tape)
    return tape


@pytest.mark.parametrize(
    ("make", "inside"),
    [
        (deep, ["inner", "inner/deep"]),
        (deeper, ["outer", "outer/inner", "outer/inner/deep"]),
        (in_time, ["td", "td/inner", "td/inner/deep"]),
        (held, ["two", "two/held"]),
        (both_ways, ["bi", "bi/forward_lstm", "bi/backward_lstm"]),
    ],
)
@pytest.mark.parametrize("options", [{}, {"level": "node"}, {"statistics_only": True}])
def test_the_layers_inside_have_calls_forward_and_backward(make, inside, options):
    tape = fitted(make(), **options)
    assert paths(tape, "forward") == [*inside, "head"]
    assert set(paths(tape, "backward")) == {*inside, "head"}


def test_a_call_inside_ends_with_what_comes_out_of_it():
    tape = fitted(held())
    ended = tape.filter(kind="node", name="held", phase="forward", ph=END)[0]
    result = [e for e in tape.filter(kind="op", name="two/held/tanh", ph=END) if e.t < ended.t]
    np.testing.assert_array_equal(
        value_of_event(ended, "result"), value_of_event(result[-1], "result")
    )
    assert ended.where.user_file == __file__
    begun = tape.filter(kind="node", name="held", phase="forward", ph=BEGIN)[0]
    np.testing.assert_array_equal(value_of_event(begun, "inputs"), [np.ones((4, 3))])


def test_a_layer_inside_whose_ops_lie_apart_has_a_call_too():
    x, y = Input((6,), name="x"), Input((6,), name="y")
    split = Model(x, [Dense(2, name="mean")(x), Dense(2, name="spread")(x)], name="split")
    tape = fitted(Model(y, Add(name="sum")(split(y))))
    calls = {event.name for event in tape.filter(kind="node", phase="backward")}
    assert calls >= {"mean", "spread"}


def test_two_calls_of_a_nested_model_are_two_calls_of_its_layers():
    a, b, shared = Input((3,), name="a"), Input((3,), name="b"), inner()
    model = Model([a, b], Dense(1, name="head")(Add()([shared(a), shared(b)])))
    model.compile("sgd", "mse")
    x = np.ones((4, 3))
    tape = recorded(lambda: model.fit([x, x], np.ones((4, 1)), verbose=0)).tape
    assert len(tape.filter(kind="node", name="deep", phase="forward", ph=BEGIN)) == 2

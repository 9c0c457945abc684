import gc
import pickle
import weakref

import pytest

from kerascope.engine.base_layer import Layer
from kerascope.engine.model import Model
from kerascope.engine.policies.failure import FailedCall, FailedGraph, makers_of
from kerascope.layers import LSTM, Add, Dense, Input, Lambda


def error_of(build, *args):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        build(*args)
    return raised.value


def test_an_error_remembers_the_layer_and_the_tensors_of_its_call():
    h = Dense(3, name="h")(Input((4,), name="x"))
    layer = LSTM(2)
    call = error_of(layer, h).failed_call
    assert isinstance(call, FailedCall)
    assert (call.layer, call.tensors, call.around) == (layer, [h], [])
    assert [node.outbound_layer.name for node in call.makers.values()] == ["h", "x"]


def test_the_innermost_call_wins_and_those_around_follow():
    class Outer(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = LSTM(2)

        def call(self, inputs):
            return self.inner(inputs)

    x, outer = Input((4,)), Outer()
    call = error_of(outer, x).failed_call
    assert call.layer is outer.inner
    assert call.around == [(outer, [x])]


def test_an_error_that_takes_no_attributes_is_still_itself():
    class Bare(Exception):
        def __setattr__(self, name, value):
            if not name.startswith("__"):
                raise AttributeError(name)
            super().__setattr__(name, value)

    class Picky(Layer):
        def call(self, inputs):
            raise Bare("as it is")

    error = error_of(Picky(), Input((4,)))
    assert type(error) is Bare
    assert not hasattr(error, "failed_call")


def test_a_model_that_is_not_made_leaves_its_inputs_and_outputs():
    a, b = Input((3,)), Input((3,))
    y = Add()([a, b])
    graph = error_of(Model, a, y).failed_graph
    assert isinstance(graph, FailedGraph)
    assert (graph.class_name, graph.inputs, graph.outputs) == ("Model", [a], [y])
    assert set(graph.makers) == {a, b, y}


def test_makers_are_those_of_all_tensors_on_the_way():
    x = Input((3,))
    h = Dense(2)(x)
    y = Add()([h, h])
    assert set(makers_of([y])) == {x, h, y}


def test_nothing_lives_longer_than_the_error():
    def fail():
        layer = LSTM(2)
        try:
            layer(Dense(3)(Input((4,))))
        except ValueError:
            return weakref.ref(layer)
        return None

    layer = fail()
    gc.collect()
    assert layer() is None


def test_an_error_goes_to_another_process_without_the_layers():
    error = error_of(Lambda(lambda x: 1 // 0), Input((4,)))
    assert isinstance(error.failed_call, FailedCall)
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), str(other), other.failed_call) == (type(error), str(error), None)

"""Models cut out of other models, with inputs in the middle and outputs of nested Sequentials.

Siblings that this catches: one input and several in the middle, an input that feeds another branch,
a layer that is called twice, keyword tensors, operations; nested Sequentials with and without an
Input of their own. What Keras 3 was asked stands in `EXPECTED`: the sums of the outputs.
"""

import numpy as np
import pytest

from kerascope import Input, Model, Sequential, layers
from kerascope.engine.input_layer import InputLayer
from kerascope.errors import DisconnectedGraphError
from kerascope.settings import config


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def dense(size, name):
    return layers.Dense(size, name=name, kernel_initializer="ones")


def with_branch():
    x = Input((4,))
    h = dense(3, "h")(x)
    h3 = dense(3, "h3")(dense(3, "h2")(h))
    return Model(x, dense(2, "out")(layers.Add(name="add")([h3, h])))


def cut(first, last):
    model = with_branch()
    return Model(model.get_layer(first).input, model.get_layer(last).output)


def two_outputs():
    x = Input((4,))
    h = dense(3, "h")(x)
    out, other = dense(2, "out")(dense(3, "h2")(h)), dense(2, "other")(h)
    model = Model(x, [out, other])
    return Model(model.get_layer("h2").input, model.outputs[0])


def two_in_the_middle():
    x = Input((4,))
    a, b = dense(3, "a")(x), dense(3, "b")(x)
    return Model([b, a], dense(2, "out")(layers.Subtract()([a, b]) + 1.0))


def called_twice():
    x, shared = Input((3,)), dense(3, "shared")
    middle = shared(x)
    return Model(middle, layers.Concatenate()([shared(middle), middle]))


def nested(inner):
    x = Input((4,))
    model = Model(x, dense(2, "out")(inner(x)))
    return Model(model.inputs, [layer.output for layer in model.layers])


def unbuilt():
    return Sequential([dense(3, "x"), dense(3, "y")])


def built():
    return Sequential([Input((4,)), dense(3, "x"), dense(3, "y")])


def from_the_input_of_a_sequential():
    x = Input((4,))
    inner = built()
    model = Model(x, dense(2, "out")(inner(x)))
    return Model(inner.input, model.output)


EXPECTED = {
    "behind a branch": (lambda: cut("h2", "out"), [120.0]),
    "one layer": (lambda: cut("h3", "h3"), [18.0]),
    "another output": (two_outputs, [36.0]),
    "two in the middle": (two_in_the_middle, [12.0]),
    "called twice": (called_twice, [24.0]),
    "nested, unbuilt": (lambda: nested(unbuilt()), [8.0, 72.0, 144.0]),
    "nested, built": (lambda: nested(built()), [8.0, 72.0, 144.0]),
    "from the input of a Sequential": (from_the_input_of_a_sequential, [144.0]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_it_computes_what_keras_3_computes(name):
    make, expected = EXPECTED[name]
    model = make()
    x = [np.ones((2, *x.shape[1:])) for x in model.inputs]
    found = model.predict(x)
    found = found if isinstance(found, list) else [found]
    assert [float(y.sum()) for y in found] == expected
    assert all(isinstance(x._keras_history.layer, InputLayer) for x in model.inputs)
    copy = Model.from_config(model.get_config())
    assert [type(x) for x in copy.layers] == [type(x) for x in model.layers]


def test_its_layers_are_those_of_the_whole_model_and_train_with_it():
    whole = with_branch()
    part = Model(whole.get_layer("h2").input, whole.output)
    assert whole.layers[2] in part.layers
    part.compile("sgd", "mse")
    part.fit(np.ones((4, 3)), np.zeros((4, 2)), verbose=0)
    assert not np.array_equal(whole.get_layer("h2").get_weights()[0], np.ones((3, 3)))


@pytest.mark.filterwarnings("ignore:Model. Model inputs must come from")
def test_what_lacks_an_input_is_refused_and_leaves_no_calls_behind():
    model = with_branch()
    layer = model.get_layer("h3")
    before = len(layer.inbound_nodes)
    with pytest.raises(DisconnectedGraphError, match="Pass every Input"):
        Model(layer.input, model.output)  # `add` needs h, too
    assert len(layer.inbound_nodes) == before


@pytest.mark.filterwarnings("ignore:Model. Model inputs must come from")
@pytest.mark.parametrize("dialect", ["1.2", "2.2"])
def test_keras_1_and_2_refuse_an_input_in_the_middle(dialect, monkeypatch):
    model = with_branch()
    inner = Sequential([layers.Dense(3, input_shape=(4,))])
    own = inner.output
    inner(Input((4,)))
    monkeypatch.setattr(config, "dialect", dialect)
    assert inner.output is own
    with pytest.raises(DisconnectedGraphError):
        Model(model.get_layer("h2").input, model.output)

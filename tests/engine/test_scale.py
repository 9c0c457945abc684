"""Long chains of layers: no recursion, and work that grows with the graph, not with its square.

Calls are counted, not seconds, so the result does not depend on the machine. Comparisons of
tensors, nodes and layers count too: `x in a_list` makes one for each entry. `benchmarks/chain.py`
measures the time.
"""

import sys
import threading

import numpy as np
import pytest
from effort import calls_of, check_linear

from kerascope import Input, Model, Sequential
from kerascope import backend as K
from kerascope.backend.atomic import MOST_WRITERS
from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.layers import Dense


def chain(length: int) -> Model:
    x = y = Input((4,))
    for _ in range(length):
        y = Dense(4)(y)
    return Model(x, y)


def line(length: int) -> Model:
    model = Sequential([Dense(4, input_shape=(4,))])
    for _ in range(length - 1):
        model.add(Dense(4))
    return model


def train_one_step(model: Model, optimizer: str = "sgd") -> float:
    model.compile(optimizer, "mse")
    return model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))


@pytest.fixture
def counted_comparisons(monkeypatch):
    """Make comparisons of tensors, nodes and layers visible to the count."""
    for cls in (Tensor, Node, Layer):
        monkeypatch.setattr(cls, "__eq__", lambda self, other: self is other, raising=False)
        monkeypatch.setattr(cls, "__hash__", object.__hash__, raising=False)


def test_a_look_at_all_layers_before_at_each_layer_would_be_found():
    def work(length):
        seen = []
        for one in chain(length).layers:
            assert all(not other.losses for other in seen)
            seen.append(one)

    with pytest.raises(AssertionError):
        check_linear(work)


WORK = {
    "a chain is built and mapped": chain,
    "a Sequential is built layer by layer": line,
    "a chain is trained one step by sgd": lambda n: train_one_step(chain(n)),
    "a chain is trained one step by adam": lambda n: train_one_step(chain(n), "adam"),
    "a chain is called as a layer": lambda n: chain(n)(Input((4,))),
    "a chain is written as a configuration and read": lambda n: Model.from_config(
        chain(n).get_config()
    ),
    "the weights of a chain are read and set": lambda n: (
        lambda model: model.set_weights(model.get_weights())
    )(chain(n)),
}


@pytest.mark.usefixtures("counted_comparisons")
@pytest.mark.parametrize("name", WORK)
def test_the_number_of_calls_grows_no_faster_than_the_chain(name):
    check_linear(WORK[name])


@pytest.mark.usefixtures("counted_comparisons")
def test_a_layer_that_is_called_often_costs_the_same_at_each_call():
    def work(length):
        x = y = Input((4,))
        shared = Dense(4, activity_regularizer="l2")
        for _ in range(length):
            y = shared(y)
        train_one_step(Model(x, y))

    check_linear(work)


def test_every_write_takes_about_as_many_calls_whatever_was_written_before():
    variables = [K.variable(0.0) for _ in range(2 * MOST_WRITERS)]
    calls = [calls_of(lambda one=one: K.set_value(one, 1.0)) for one in variables]
    assert max(calls) < min(calls) + 20


@pytest.fixture
def shallow():
    """Allow half as many frames inside each other as the shorter chain has layers."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    yield 250
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("length", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_long_chain_is_built_mapped_compiled_and_trained_in_a_small_stack(shallow, length):
    result = {}

    def work():
        model = chain(length)
        result["loss"] = train_one_step(model)
        result["deepest"] = max(model.nodes_by_depth)
        result["layers"] = len(model.layers)
        result["weights"] = len(model.optimizer.weights)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert sys.getrecursionlimit() == shallow
    assert np.isfinite(result["loss"])
    expected = length, length + 1, 2 * length + 1
    assert (result["deepest"], result["layers"], result["weights"]) == expected

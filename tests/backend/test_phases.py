"""The order of a function's ops: forward, backward, update, each after what it needs."""

import numpy as np
import pytest
from zoo import ZOO

from kerascope.backend.function import Function
from kerascope.trace.tape import trace


def trained(name, optimizer):
    np.random.seed(0)
    model = ZOO[name]()
    model.compile(optimizer, "mse", metrics=["mae"])
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(4, *tensor.shape[1:])) for tensor in model.inputs]
    y = [rng.normal(size=(4, *tensor.shape[1:])) for tensor in model.outputs]
    model.train_on_batch(x, y)
    return model, x, y


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("name", ["chain", "diamond", "siamese", "bidirectional"])
def test_a_batch_has_one_span_for_each_phase(name, optimizer):
    model, x, y = trained(name, optimizer)
    with trace(model) as tape:
        model.train_on_batch(x, y)
    spans = [event.kind for event in tape.filter(grain="phase", ph="B")]
    told_once = ("backward", "update", "commit")
    assert [kind for kind in spans if kind in told_once] == list(told_once)


@pytest.mark.parametrize("name", ["chain", "siamese", "bidirectional"])
def test_every_op_comes_after_those_that_it_needs(name):
    model, _, _ = trained(name, "adam")
    function = model.train_function
    assert isinstance(function, Function)
    known = {*function.inputs, *(tensor for _, tensor in function.schedule.variables)}
    for step in function.schedule.steps:
        computed = [tensor for tensor in step.apply.inputs if tensor.owner is not None]
        assert all(tensor in known for tensor in computed)
        known.update(step.apply.outputs)

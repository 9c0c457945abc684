"""The order of a function's ops: forward, backward, update, each after what it needs."""

import itertools

import numpy as np
import pytest
from zoo import ZOO

from kerascope import backend as K
from kerascope.backend.function import Function
from kerascope.backend.schedule import Phase
from kerascope.layers import Dense, Input, add
from kerascope.models import Model
from kerascope.optimizers import SGD
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


# --- the order inside of a phase ------------------------------------------------------------------


def layers_backward(model):
    """Return the layers in the order of their backward ops, each as often as it has its turn."""
    scopes = [
        step.apply.scope.name.split("/")[1]
        for step in model.train_function.schedule.steps
        if step.phase is Phase.BACKWARD and "/" in step.apply.scope.name
    ]
    return [name for name, _ in itertools.groupby(scopes)]


@pytest.mark.parametrize("options", [{}, {"clipnorm": 1.0}, {"clipvalue": 0.5}])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_backward_the_last_layer_is_first_with_all_of_its_gradients(activation, options):
    x = Input((4,))
    y = x
    for name in ("first", "second", "third"):
        y = Dense(3, activation=activation, name=name)(y)
    model = Model(x, y)
    model.compile(SGD(**options), "mse")
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 3)))
    assert layers_backward(model) == ["loss", "third_loss", "third", "second", "first"]


def test_all_outputs_are_computed_before_the_first_loss():
    x = Input((4,))
    model = Model(x, [Dense(2, name="one")(x), Dense(3, name="other")(x)])
    model.compile("sgd", "mse", metrics=["mae"])
    model.train_on_batch(np.ones((2, 4)), [np.ones((2, 2)), np.ones((2, 3))])
    phases = [step.phase.word for step in model.train_function.schedule.steps]
    assert [phase for phase, _ in itertools.groupby(phases)] == [
        *("forward", "loss", "metrics", "backward", "update"),
    ]


def test_what_only_a_new_value_needs_is_of_the_update_even_if_it_reads_gradients():
    x, w = K.placeholder((1,)), K.variable([2.0])
    loss = K.sum(K.square(x * w))
    slope = K.gradients(loss, [w])[0]
    penalty = loss + K.sum(K.square(slope))
    second = K.gradients(penalty, [w])[0]
    function = K.function([x], [penalty], [(w, w - 0.1 * second)])
    words = {step.apply.name: step.phase.word for step in function.schedule.steps}
    assert words["subtract"] == "update"
    assert [word for word, _ in itertools.groupby(words.values())][-1] == "update"
    assert "backward" in words.values()


def test_branches_go_backward_each_in_one_piece():
    x = Input((4,))
    one, other = Dense(5, name="one")(x), Dense(5, name="other")(x)
    both = add([one, Dense(5, name="more")(other)], name="both")
    model = Model(x, Dense(1, name="last")(both))
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 1)))
    order = layers_backward(model)
    assert order[:4] == ["loss", "last_loss", "last", "both"]
    assert sorted(order[4:]) == ["more", "one", "other"]  # each once
    assert order.index("more") < order.index("other")

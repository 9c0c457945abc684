"""A call whose input also lies behind another input: each op belongs to its own call."""

import pytest

from kerascope import backend as K
from kerascope.layers import Add, Dense, Input
from kerascope.models import Model
from kerascope.settings import config
from kerascope.trace.training_info import TrainingInfo


@pytest.fixture(autouse=True)
def fresh_names():
    K.clear_session()
    yield
    K.clear_session()


def ops_by_call(model):
    model.compile("sgd", "mse")
    facts = TrainingInfo(model, [])
    found = {}
    for apply, place in facts.calls.items():
        found.setdefault(facts.ids[place.node], []).append(apply.op.name)
    return {name: sorted(ops) for name, ops in found.items()}


def test_an_add_of_a_layers_input_and_output_has_only_its_own_op():
    x = Input((4,))
    h = Dense(4, activation="relu", name="f")(x)
    found = ops_by_call(Model(x, Dense(2, name="out")(Add(name="sum")([x, h]))))
    assert found == {"f": ["add", "dot", "relu"], "sum": ["add"], "out": ["add", "dot"]}


def test_operations_between_layers_are_calls_of_their_own(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    x = Input((4,))
    h = Dense(4, activation="relu", name="f")(x)
    found = ops_by_call(Model(x, Dense(2, name="out")(x + 2 * h)))
    assert found == {
        "f": ["add", "dot", "relu"],
        "multiply": ["multiply"],
        "add": ["add"],
        "out": ["add", "dot"],
    }

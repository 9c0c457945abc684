"""Through fit, no layer is called and no graph is walked: the schedule was fixed before."""

import numpy as np
import pytest

from kerascope import Input, K, Model
from kerascope.backend import graph
from kerascope.engine import calling, graph_map, network
from kerascope.engine.base_layer import Layer
from kerascope.engine.training_loop import BatchBegun, EpochEnded
from kerascope.layers import Dense
from kerascope.stage import Stage

X = np.random.default_rng(0).normal(size=(96, 20)).astype("float32")
Y = (X.sum(axis=1) > 0).astype("float32")


@pytest.fixture
def model():
    """The documents' model: 20-64-64-1, with sigmoid."""
    inputs = Input(shape=(20,))
    h = Dense(64, activation="relu")(Dense(64, activation="relu")(inputs))
    model = Model(inputs, Dense(1, activation="sigmoid")(h))
    model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
    return model


@pytest.fixture
def count(monkeypatch):
    """Count the calls of all that belongs to layers and graphs."""
    counts = {}

    def watch(owner, name):
        key, original = f"{getattr(owner, '__name__', owner)}.{name}", getattr(owner, name)
        counts[key] = 0

        def counting(*args, **kwargs):
            counts[key] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    watch(Layer, "__call__")
    watch(Dense, "call")
    watch(Dense, "build")
    watch(network.Network, "call")
    watch(network.Network, "run_internal_graph")
    watch(graph_map, "map_graph")
    watch(network, "map_graph")
    watch(network, "run_graph")
    watch(network, "run_graph")
    watch(calling, "call_layer")
    watch(graph, "applies_in_order")
    return counts


def test_building_a_model_runs_all_of_it(count):
    inputs = Input(shape=(20,))
    inner = Model(inputs, Dense(2)(inputs))
    inner(Input(shape=(20,)))
    ran = {name for name, times in count.items() if times}
    assert {
        "Layer.__call__", "Dense.call", "Dense.build", "Network.call",
        "Network.run_internal_graph", "kerascope.engine.network.map_graph",
        "kerascope.engine.network.run_graph",
    } <= ran  # fmt: skip


def test_fit_runs_no_layer_code_and_no_graph_walk(model, count):
    model.fit(X, Y, epochs=1, verbose=0)  # makes the train function
    after_first = dict(count)
    assert {n: c for n, c in after_first.items() if not n.endswith("applies_in_order") and c} == {}
    model.fit(X, Y, epochs=3, verbose=0, validation_split=0.0)
    assert count == after_first


def test_evaluate_and_predict_run_no_layer_code_either(model, count):
    model.evaluate(X, Y, verbose=0)
    model.predict(X)
    before = dict(count)
    model.evaluate(X, Y, verbose=0)
    model.predict(X)
    assert count == before
    assert count["Layer.__call__"] == count["Dense.call"] == 0


def test_a_train_step_makes_no_tensor(model, monkeypatch):
    model.train_on_batch(X, Y)
    made = []
    monkeypatch.setattr(
        "kerascope.backend.graph.Apply.__init__", lambda self, *args, **kwargs: made.append(args)
    )
    model.fit(X, Y, epochs=2, verbose=0)
    assert made == []


def test_between_the_events_of_a_batch_there_is_only_the_schedule(model):
    stage = model.fit_stage(X, Y, epochs=1, verbose=0)
    in_batch, steps = False, []
    for inner, event in stage.walk():
        if isinstance(event, BatchBegun):
            in_batch = True
        elif isinstance(event, EpochEnded):
            in_batch = False
        elif in_batch and not isinstance(event, Stage) and inner is not stage:
            assert inner.name == "train_function"
            steps.append(event)
    schedule = model.train_function.schedule.steps
    updates = model.train_function.updates
    assert len(steps) == 3 * (len(schedule) + len(updates))
    assert steps[: len(schedule)] == schedule


def test_the_train_function_takes_its_inputs_from_three_placeholders(model):
    model.fit(X, Y, verbose=0)
    names = [x.name for x in model.train_function.inputs]
    output = model.output_names[0]
    assert names == [model.input_names[0], f"{output}_target", f"{output}_sample_weights"]
    assert len(model.train_function.updates) == 13  # six accumulators, six weights, iterations
    assert K.get_value(model.optimizer.iterations) == 3

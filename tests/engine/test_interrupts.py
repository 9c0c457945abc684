"""Whatever interrupts training, and whenever: all variables belong to the same whole step."""

import numpy as np
import pytest
from interrupts import Interrupt, Late, interrupted, moments_of, state_of, written_by

from kerascope import backend as K
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout
from kerascope.models import Sequential
from kerascope.optimizers import SGD, Adam
from kerascope.stage import observing

CALLS = 3  # from then on the written program computes


def quietly(stage, event):
    """Watch without looking: everything is stepped."""


def many_small():
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), BatchNormalization()])
    model.add(Dropout(0.5, seed=1))
    model.add(Dense(4))
    model.add(BatchNormalization())
    model.add(Dense(1))
    model.compile(Adam(0.01, clipvalue=0.5), "mse", metrics=["mae"])
    return model, np.ones((4, 5), "f4"), np.zeros((4, 1), "f4")


def large():
    model = Sequential([Dense(250, input_shape=(300,)), Dense(1)])
    model.compile(SGD(1e-5, momentum=0.9), "mse")
    return model, np.ones((2, 300), "f4"), np.zeros((2, 1), "f4")


def stateful():
    model = Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 4, 3)), Dense(1)])
    model.compile("adam", "mse")
    return model, np.ones((2, 4, 3), "f4"), np.zeros((2, 1), "f4")


MODELS = {"many small weights": many_small, "large weights": large, "stateful LSTM": stateful}


def made(kind):
    K.clear_session()
    np.random.seed(0)
    model, x, y = MODELS[kind]()
    for _ in range(CALLS):
        model.train_on_batch(x, y)
    return model, x, y


def step_of(road, model, x, y):
    if road == "run":
        return lambda: model.train_on_batch(x, y)
    if road == "fit":
        return lambda: model.fit(x, y, batch_size=len(x), epochs=1, verbose=0)

    def stepped():
        with observing(quietly):
            model.train_on_batch(x, y)

    return stepped


ROADS = ["run", "stepped", "fit"]


@pytest.mark.parametrize("error", [Interrupt, Late])
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_an_interrupted_step_is_done_wholly_or_not_at_all(kind, road, error):
    model, x, y = made(kind)
    twin, *_ = made(kind)
    variables, expected = written_by(model), written_by(twin)
    step, undisturbed = step_of(road, model, x, y), step_of("run", twin, x, y)
    assert state_of(variables) == state_of(expected)
    n = moments_of(step)
    undisturbed()
    for moment in chosen(n):
        before = state_of(expected)
        undisturbed()
        after = state_of(expected)
        where = interrupted(step, moment, error)
        came = state_of(variables)
        assert came in (before, after), f"torn at {where}"
        if came == before:
            step()
            assert state_of(variables) == after, f"what was interrupted at {where} does not go on"


def chosen(n):
    """Return the last moments, among them those of writing, and some of the others."""
    return sorted({*range(max(n - 40, 1), n + 1), *range(1, n, max(n // 10, 1))})

"""What the tests of the recorder share: a model with everything, and a look at a tape's spans."""

import numpy as np

from kerascope.layers import BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace.events import BEGIN, END, FORGOTTEN, GRAINS
from kerascope.trace.recorder import Recorder


def regression(optimizer="adam"):
    x = Input(shape=(3,), name="x")
    h = Dense(4, activation="relu", kernel_regularizer="l2", name="hidden")(x)
    h = Dropout(0.5, seed=3, name="drop")(BatchNormalization(name="norm")(h))
    model = Model(x, Dense(1, name="y")(h), name="regression")
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def fit(model, **options):
    numbers = np.random.default_rng(1)
    x, y = numbers.normal(size=(20, 3)), numbers.normal(size=(20, 1))
    options = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0, **options}
    return model.fit(x, y, **options).history


def assert_balanced(tape):
    spans = []
    for event in tape:
        if event.kind == FORGOTTEN:  # its mark tells which spans are open behind it
            spans = next(list(d.value) for d in event.deltas if d.name == "spans")
        if event.ph == END:
            begun = spans.pop()
            assert (begun.kind, begun.name) == (event.kind, event.name), event
            assert (begun.act, begun.phase) == (event.act, event.phase), event
        assert event.depth == len(spans), event
        assert event.grain in GRAINS
        if event.ph == BEGIN:
            spans.append(event)
    assert not spans


def recorded(work, **options):
    recorder = Recorder(**options)
    try:
        with observing(recorder):
            work()
    finally:
        recorder.close()
    return recorder

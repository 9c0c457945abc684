"""The process in which `kerascope learn report` runs the student's own engine.

It draws a model of the engine, trains it on the digits, and compares ten steps with kerascope. A
student's file may never end, so `running.py` starts this process with a time limit.
"""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kerascope import backend
from kerascope.datasets import digits
from kerascope.layers import Dense
from kerascope.learn.engine import use_my_engine
from kerascope.learn.verdicts import Text
from kerascope.models import Sequential
from kerascope.optimizers import SGD
from kerascope.viz.draw import draw
from kerascope.viz.tensors.curves import Axes, Curve, Curves
from kerascope.viz.tensors.picture import Picture

EPOCHS, BATCH, STEPS = 20, 32, 10
HIDDEN, RATE = 32, 0.2
LOSS = "categorical_crossentropy"
_LOSS = Text("mean loss of the epoch", "每轮的平均损失")
_RIGHT = Text("share of the test digits that are right", "测试集上的正确率")
_EPOCH = Text("epoch", "轮")


def main(folder: str, language: str, result: str) -> None:
    """Run the engine of a workbook; write its pictures and losses into the file `result`."""
    warnings.simplefilter("ignore")
    backend.set_floatx("float64")
    use_my_engine(Path(folder))
    (x, y), (x_test, y_test) = digits.load_data()
    x, x_test, targets = x.reshape(-1, 64) / 16.0, x_test.reshape(-1, 64) / 16.0, np.eye(10)[y]
    np.random.seed(0)  # noqa: NPY002 (the generator that the engine uses)
    model = _own_model()
    start = model.get_weights()
    difference = _difference_from_kerascope(model, x, targets)
    model.set_weights(start)
    losses, right = [], []
    for _ in range(EPOCHS):
        losses.append(float(model.fit(x, targets, batch_size=BATCH, epochs=1)[0]))
        right.append(float(np.mean(model.predict(x_test).argmax(axis=1) == y_test)))
    curves = [_curves(_LOSS, losses, language), _curves(_RIGHT, right, language)]
    found = {
        "picture": draw(model, rankdir="LR").svg,
        "curves": [Picture(one).svg for one in curves],
        "losses": losses,
        "right": right,
        "difference": difference,
    }
    Path(result).write_text(json.dumps(found), encoding="utf-8")


def _own_model() -> Any:
    layer, fit = import_module("my_engine.layer"), import_module("my_engine.fit")
    inputs = layer.Input((64,), name="pixels")
    hidden = layer.Dense(HIDDEN, activation="relu", name="hidden")(inputs)
    model = fit.Model(
        inputs, layer.Dense(10, activation="softmax", name="scores")(hidden), "digits"
    )
    model.compile(import_module("my_engine.function").SGD(RATE), LOSS)
    return model


def _difference_from_kerascope(model: Any, x: np.ndarray, targets: np.ndarray) -> float:
    """Train the model and an equal one of kerascope; return the largest difference of their losses.

    Both begin with the same weights and make `STEPS` steps.
    """
    ours = Sequential([Dense(HIDDEN, activation="relu", input_dim=64)])
    ours.add(Dense(10, activation="softmax"))
    ours.compile(SGD(lr=RATE), LOSS)
    ours.set_weights(model.get_weights())
    differences = []
    for start in range(0, STEPS * BATCH, BATCH):
        batch = x[start : start + BATCH], targets[start : start + BATCH]
        differences.append(model.train_on_batch(*batch) - ours.train_on_batch(*batch))
    return float(np.abs(differences).max())


def _curves(title: Text, numbers: list[float], language: str) -> Curves:
    epochs = tuple(float(n) for n in range(1, len(numbers) + 1))
    curve = Curve(f"{numbers[-1]:.3f}", epochs, tuple(numbers))
    return Curves(title.within(language), (Axes("", _EPOCH.within(language), (curve,)),))

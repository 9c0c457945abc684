"""Hypothesis strategies: random graphs of layers, built by our own API.

A graph is drawn as a list of small instructions (a "recipe"), which `build` turns into a model: so
a failing example is printed as data, and two models of the same recipe can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kerascope import Input, Model
from kerascope.layers import (
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Dense,
    Dropout,
    Lambda,
    Layer,
    Multiply,
)

WIDTH = 3  # every tensor is (None, WIDTH), so anything can follow anything


class Split(Layer):
    """Two outputs: the input and its negative."""

    def call(self, inputs):
        return [inputs * 1.0, -inputs]


def passed_on(x):
    return x


@dataclass(frozen=True)
class Recipe:
    """A model as data.

    Attributes
    ----------
    inputs : int
        Number of Inputs.
    steps : tuple of (kind, sources, which)
        Calls in order: the kind of layer, the numbers of the tensors that it is called on, and
        which of the shared layers or nested models of that kind is used.
    outputs : tuple of int
        Numbers of the output tensors.
    """

    inputs: int
    steps: tuple[tuple[str, tuple[int, ...], int], ...]
    outputs: tuple[int, ...]


FRESH = ("dense", "activation", "identity", "dropout", "split")
MERGES = ("add", "multiply", "concatenate")
REUSED = ("shared", "nested", "normalize")


@st.composite
def recipes(draw: Any, max_steps: int = 12, reuse: bool = True, random: bool = True) -> Recipe:
    """Draw a recipe; without `reuse`, every layer is called once.

    A layer is mostly called on what was made last, and the last tensor is always an output: so the
    graphs are deep, and most of what is drawn belongs to them.
    """
    kinds = list(REUSED) if reuse else []
    kinds += [kind for kind in FRESH if random or kind != "dropout"] + list(MERGES)
    number = inputs = draw(st.integers(1, 3))
    steps = []
    for _ in range(draw(st.integers(max_steps // 3, max_steps))):
        kind = draw(st.sampled_from(kinds))
        how_many = draw(st.integers(2, 3)) if kind in MERGES else 1
        back = st.integers(1, min(4, number))
        sources = tuple(number - draw(back) for _ in range(how_many))
        steps.append((kind, sources, draw(st.integers(0, 1))))
        number += 2 if kind == "split" else 1
    others = st.lists(st.integers(inputs, number - 1), max_size=2)
    outputs = dict.fromkeys([*draw(others), number - 1])
    return Recipe(inputs, tuple(steps), tuple(outputs))


def _nested(which: int) -> Model:
    x = Input((WIDTH,))
    h = Dense(WIDTH, activation="tanh", kernel_regularizer="l2")(x)
    y = BatchNormalization()(h) if which else Add()([h, x])
    return Model(x, y, name=f"nested_{which}")


def _fresh(kind: str, which: int) -> Layer:
    if kind == "dense":
        return Dense(WIDTH, activation="tanh" if which else None)
    if kind == "activation":
        return Activation("relu" if which else "sigmoid")
    if kind == "identity":
        return Lambda(passed_on)
    if kind == "dropout":
        return Dropout(0.3)
    if kind == "split":
        return Split()
    return {"add": Add, "multiply": Multiply, "concatenate": Concatenate}[kind]()


def _reused(kind: str, which: int) -> Layer:
    if kind == "shared":
        return Dense(WIDTH, activation="tanh", name=f"shared_{which}")
    if kind == "normalize":
        return BatchNormalization(name=f"normalize_{which}")
    return _nested(which)


def build(recipe: Recipe) -> Model:
    """Make the model of a recipe; inputs that no output needs are left out."""
    tensors = [Input((WIDTH,), name=f"in_{i}") for i in range(recipe.inputs)]
    inputs = list(tensors)
    pool: dict[tuple[str, int], Layer] = {}
    for kind, sources, which in recipe.steps:
        chosen = [tensors[i] for i in sources]
        if kind in REUSED and (kind, which) not in pool:
            pool[kind, which] = _reused(kind, which)
        layer = pool[kind, which] if kind in REUSED else _fresh(kind, which)
        made = layer(chosen if kind in MERGES else chosen[0])
        if kind == "concatenate":  # back to the common width
            made = Dense(WIDTH)(made)
        tensors.extend(made if isinstance(made, list) else [made])
    outputs = [tensors[i] for i in recipe.outputs]
    needed = _inputs_of(outputs)
    return Model([x for x in inputs if x in needed], outputs)


def _inputs_of(outputs: list[Any]) -> set[Any]:
    found, waiting = set(), list(outputs)
    while waiting:
        x = waiting.pop()
        if x in found:
            continue
        found.add(x)
        node = x._keras_history.node
        if not node.is_input:
            waiting.extend(node.input_tensors)
    return found


def data_for(model: Model, samples: int = 12, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Return inputs and targets for a model of a recipe."""
    rng = np.random.default_rng(seed)
    x = [rng.normal(size=(samples, WIDTH)).astype("float32") for _ in model.inputs]
    y = [rng.normal(size=(samples, WIDTH)).astype("float32") for _ in model.outputs]
    return x, y

"""The limits on layers, weights and calls while a model is built from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.backend.shapes import Shape
from kerascope.engine.around import CalledLayer
from kerascope.limits import CALL_COST, LAYER_COST, Budget, building, current_budget


def count_layer(layer: CalledLayer) -> None:
    """Count a new layer toward the limits for models from files, while a file is read.

    Its weights are counted when they are made.
    """
    budget = current_budget()
    if budget is not None:
        budget.take_parts(LAYER_COST, f"at a layer {type(layer).__name__}")
        vars(layer)["_budget"] = budget.deferred


def count_call(layer: CalledLayer) -> None:
    """Count a call of a layer toward the limits for models from files, while a file is read."""
    budget = current_budget()
    if budget is not None:
        budget.take_parts(CALL_COST, f"at a call of a layer {type(layer).__name__}")


def budget_of(layer: CalledLayer) -> Budget | None:
    """Return what remains of the limits on the size of a model from a file; None without limits.

    The model is the one that is being made now. If there is none, it is the model with which the
    layer was made.
    """
    return current_budget() or vars(layer).get("_budget")


def first_value(
    layer: CalledLayer, word: str, shape: Shape, dtype: str, compute: Callable[[], Any]
) -> Any:
    """Return `compute()`, the first value of a weight; raise if it exceeds the limits of the model.

    Only a model from a file has limits (`kerascope.limits`). If its weights are read from the file
    afterwards, zeros are returned instead.
    """
    budget = budget_of(layer)
    if budget is None:
        return compute()
    budget.take_numbers(shape, f"a weight {word!r} in {layer.label}")
    if budget is current_budget() and budget.weights_are_read_next:
        return np.zeros(shape, dtype)
    with building(budget):
        return compute()

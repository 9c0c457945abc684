"""The limits on layers, weights and calls while a model is built from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.backend.shapes import Shape
from kerascope.engine.around import CalledLayer
from kerascope.limits import CALL_COST, LAYER_COST, Budget, building, current_budget


def count_layer(layer: CalledLayer) -> None:
    """Charge a new layer to the current budget, if any. Its weights are charged later."""
    budget = current_budget()
    if budget is not None:
        budget.take_parts(LAYER_COST, f"at a layer {type(layer).__name__}")
        vars(layer)["_budget"] = budget.deferred


def count_call(layer: CalledLayer) -> None:
    """Charge a call of a layer to the current budget, if any."""
    budget = current_budget()
    if budget is not None:
        budget.take_parts(CALL_COST, f"at a call of a layer {type(layer).__name__}")


def budget_of(layer: CalledLayer) -> Budget | None:
    """Return the current budget, or otherwise the one under which the layer was made, or None."""
    return current_budget() or vars(layer).get("_budget")


def first_value(
    layer: CalledLayer, word: str, shape: Shape, dtype: str, compute: Callable[[], Any]
) -> Any:
    """Return `compute()`, the first value of a weight; raise if the weight exceeds the budget.

    If the weights are read from a file afterwards, return zeros instead.
    """
    budget = budget_of(layer)
    if budget is None:
        return compute()
    budget.take_numbers(shape, f"a weight {word!r} in {layer.label}")
    if budget is current_budget() and budget.weights_are_read_next:
        return np.zeros(shape, dtype)
    with building(budget):
        return compute()

"""What a call costs, while a model is built from a configuration that was read."""

from __future__ import annotations

from typing import Any

from kerascope.limits import PARTS_OF_A_CALL, current_budget


def count_call(layer: Any) -> None:
    """Take a call from the budget."""
    budget = current_budget()
    if budget is not None:
        budget.take_parts(PARTS_OF_A_CALL, f"at a call of a layer {type(layer).__name__}")

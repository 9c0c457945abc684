"""Another array in the place of one that a paused function has computed: what-if, live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope.errors import ArgumentError, ShapeError
from kerascope.registry import did_you_mean
from kerascope.trace.events import Delta
from kerascope.trace.function_plan import PlannedStep

if TYPE_CHECKING:
    from kerascope.trace.recorder_function import FunctionHearer


def override(hearer: FunctionHearer, name: str, value: Any) -> None:
    """Put an array into the slot of a tensor; what is computed from now on sees it.

    Parameters
    ----------
    hearer : FunctionHearer
        Of the paused call.
    name : str
        A tensor of the function, or a key of `tensor_map`.
    value : array_like
        Of the same shape; it is copied, and takes the same type.

    Raises
    ------
    ArgumentError
        There is no such tensor, or it has no array now.
    ShapeError
        The array has another shape.
    """
    slot, planned, position = _place(hearer, name)
    old = hearer.live_values[slot] if hearer.live_values else None
    if old is None:
        raise ArgumentError(
            f"set {name}: it has no array now; expected a tensor that has been computed and is "
            f"still needed."
        )
    new = np.array(value, dtype=old.dtype)
    if new.shape != old.shape:
        raise ShapeError(f"set {name}: array of shape {new.shape}; expected {old.shape}.")
    hearer.live_values[slot] = new
    kept = hearer.own_copy(slot, new)
    deltas = [Delta("value", None, kept)]
    if planned is not None:
        deltas += hearer.brought_by(planned, position, kept)
    elif name in hearer.plan.keys.values():
        deltas.append(Delta("tensor_map", name, (kept, None)))
    hearer.tell("override", name, *deltas)


def _place(hearer: FunctionHearer, name: str) -> tuple[int, PlannedStep | None, int]:
    """Return the slot of a name, and which output of which op it is."""
    plan, slots = hearer.plan, hearer.plan.slots
    of_keys = {key: slots[x] for x, key in plan.keys.items() if x in slots}
    of_inputs = {x.name: slots[x] for x in plan.function.inputs}
    of_steps = {planned.name: planned.step.outputs[0] for planned in plan.steps}
    places = {**of_inputs, **of_steps, **of_keys}
    if name not in places:
        raise ArgumentError(
            f"set {name}: {plan.function.name} has no tensor of this name. "
            f"{did_you_mean(name, list(places))}".rstrip()
        )
    slot = places[name]
    for planned in plan.steps:
        if slot in planned.step.outputs:
            return slot, planned, planned.step.outputs.index(slot)
    return slot, None, 0

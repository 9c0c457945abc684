"""Which array of a function a person means: `out`, `dense_1`, `grads["dense_1/kernel"]`, `p`.

A function keeps its arrays in slots. A slot has as many names as the tape has for it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import END, Event
from kerascope.trace.recorder_plan import Plan

OUT = ("out", "result")


def slots_by_name(plan: Plan) -> dict[str, int]:
    """Return the slots of a function by all names that a person has for them.

    These are the names of ops, as on the tape, of inputs and variables, the keys of `tensor_map`,
    and `grads[dense_1/kernel]`, `updates[dense_1/kernel]` or `total_loss`.
    """
    slots: dict[str, int] = {}
    for planned in plan.steps:
        for name, key, position in planned.brings:
            told = name if key is None else f"{name}[{key}]"
            slots.setdefault(told, planned.step.outputs[position])
    for tensor, key in plan.keys.items():
        if tensor in plan.slots:
            slots.setdefault(key, plan.slots[tensor])
            slots.setdefault(f"tensor_map[{key}]", plan.slots[tensor])
    schedule = plan.function.schedule
    for slot, variable in schedule.variables:
        slots.setdefault(variable.name, slot)
    for slot, tensor in enumerate(schedule.inputs):
        slots.setdefault(tensor.name, slot)
    for planned in plan.steps:
        slots.setdefault(planned.name, planned.step.outputs[0])
    return slots


def slot_of(plan: Plan, name: str, event: Event, where: str = "set") -> int:
    """Return the slot that a name means at an event.

    Raises
    ------
    ArgumentError
        It means none.
    """
    slots = slots_by_name(plan)
    wanted = re.sub(r"\[\s*(['\"])(.*)\1\s*\]$", r"[\2]", name.strip())
    if wanted in OUT:
        if event.ph != END or event.kind not in ("op", "node") or event.name not in slots:
            raise ArgumentError(
                f"{where}: nothing has come out here, at t={event.t}. Go to the end of an op or a "
                "node (r), or name a tensor."
            )
        wanted = event.name
        if event.kind == "op":
            own = {planned.name: planned.step.outputs[0] for planned in plan.steps}
            return own[wanted]
    own_slot = _slot_in_group(plan, wanted, event)
    if own_slot is not None:
        return own_slot
    if wanted not in slots:
        raise ArgumentError(
            f"{where}: {plan.function.name} has no tensor {name!r}. {did_you_mean(wanted, slots)}"
            "Expected out, the name of a tensor or a weight, or of a layer for its output."
        )
    return slots[wanted]


def _slot_in_group(plan: Plan, name: str, event: Event) -> int | None:
    """Return the slot of `p`, `g`, `new_p`, `m` or `v` where an optimizer updates a parameter."""
    groups = [
        planned.group
        for planned in plan.steps
        if planned.group is not None
        and planned.group.variable is not None
        and event.name == (planned.name if event.kind == "op" else planned.group.name)
    ]
    if not groups or event.kind not in ("op", "update.param"):
        return None
    group = groups[0]
    variables = dict(group.slots)
    if group.variable is not None:
        variables["p"] = group.variable
    containers = {"g": "grads", "new_p": "updates"}
    if name in containers:
        return slots_by_name(plan).get(f"{containers[name]}[{group.name}]")
    return plan.slots.get(variables[name]) if name in variables else None


def tensor_of(plan: Plan, slot: int) -> Tensor:
    """Return the tensor of a slot."""
    return next(tensor for tensor, own in plan.slots.items() if own == slot)


def name_of(plan: Plan, slot: int) -> str:
    """Return what the tape calls the tensor of a slot."""
    own = {s: planned.name for planned in plan.steps for s in planned.step.outputs}
    return own.get(slot) or tensor_of(plan, slot).name


def fitted(value: Any, tensor: Tensor, current: Any, where: str = "set") -> np.ndarray:
    """Return a new array of a tensor's type, and of the shape that it has now.

    Raises
    ------
    ArgumentError
        The value does not fit.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":  # NumPy would take None for NaN
            raise TypeError
        array = array.astype(tensor.dtype)
        return np.array(np.broadcast_to(array, np.shape(current)))
    except (TypeError, ValueError):
        shape = getattr(value, "shape", None)
        got = f"shape {shape}" if shape is not None else repr(value)
        raise ArgumentError(
            f"{where}: {tensor.name} is {tensor.dtype} of shape {np.shape(current)}; got {got}."
        ) from None

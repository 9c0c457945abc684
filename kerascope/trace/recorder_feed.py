"""What a function's call begins with: the arrays that came in, and the names of its scope."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.schedule import Schedule
from kerascope.stage import Stage
from kerascope.trace.events import Delta, new_delta
from kerascope.trace.function_plan import Group, Plan
from kerascope.trace.hearer import name_is
from kerascope.trace.recorder_memory import Memory
from kerascope.trace.statistics import count_inf, count_nan


def fed_copies(
    stage: Stage, schedule: Schedule
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Return copies of the arrays that came in, by slot, and the caller's own, by their ids.

    Where they do not fit, the function will say so; here they are then left out.
    """
    given = stage.names.get("inputs", ())
    if not isinstance(given, (list, tuple)) or len(given) != len(schedule.inputs):
        return {}, {}
    copies: dict[int, np.ndarray] = {}
    for slot, (x, tensor) in enumerate(zip(given, schedule.inputs, strict=True)):
        try:
            copies[slot] = np.array(fed_array(x, tensor), dtype=tensor.dtype)
        except (TypeError, ValueError):
            return {}, {}
    return copies, {id(x): x for x in given if isinstance(x, np.ndarray)}


def variables_set(
    schedule: Schedule, memory: Memory
) -> list[tuple[Variable, np.ndarray, np.ndarray | None]]:
    """Return the variables with a value that was not told yet, and what was told last."""
    values, found = memory.values, []
    for _, v in schedule.variables:
        array, before = v.get_value(borrow=True), values.get(v)
        if array is not before:
            values[v] = array
            found.append((v, array, before))
    return found


def names_at_start(
    plan: Plan, copies: dict[int, np.ndarray], written: Container[Any], memory: Memory
) -> dict[str, Any]:
    """Return the names of a call: empty containers that will fill, and what is known already."""
    payload = memory.payload
    names: dict[str, Any] = {"inputs": [payload(x) for x in copies.values()]}
    names["feed_names"] = tuple([x.name for x in plan.function.schedule.inputs])
    facts = plan.facts
    if facts is None:
        return names
    names["tensor_map"] = {
        plan.keys[x]: (payload(copies[slot]), None)
        for slot, x in enumerate(plan.function.schedule.inputs)
        if x in plan.keys and slot in copies
    }
    optimizer: Any = getattr(facts.model, "optimizer", None)
    if facts.losses.get("total_loss") in plan.slots:
        names.update(total_loss=None, loss_list={}, metrics={})
    if getattr(optimizer, "iterations", None) in written:
        params = [p.name for p in facts.model._collected_trainable_weights]
        names.update(params=params, grads={}, updates={})
        if isinstance(getattr(optimizer, "lr", None), Variable):
            names["lr"] = payload(optimizer.lr.get_value(borrow=True))
        names["t"] = int(optimizer.iterations.get_value(borrow=True)) + 1
    return names


def tell_spoilt_constants(plan: Plan, memory: Memory) -> None:
    """Let an op begin with the constants that it reads and that are not finite, by their names.

    Nothing else tells of a constant, and so nothing else says that a NaN comes in with it.
    """
    schedule = plan.function.schedule
    spoilt = {slot: x for slot, x in schedule.fixed if count_nan(x) or count_inf(x)}
    tensors = {slot: tensor for tensor, slot in schedule.slots.items() if slot in spoilt}
    for planned in plan.steps if spoilt else ():
        own = [slot for slot in planned.step.inputs if slot in spoilt]
        constants = {tensors[slot].name: memory.payload(spoilt[slot]) for slot in own}
        if constants:
            told: tuple[Delta, ...] = (*planned.deltas, name_is("constants", constants))
            planned.deltas = told


def names_of_group(
    group: Group, gradients: dict[str, Any], arrays: dict[str, Any], plan: Plan, memory: Memory
) -> tuple[Delta, ...]:
    """Return the names with which the ops of a call, or of a parameter's update, begin."""
    if group.deltas is None:
        group.deltas = _always_of(group, memory)
    if group.variable is None:
        if group.node is None or group.depth is None:
            return group.deltas
        inputs = tuple([arrays.get(plan.keys.get(x, "")) for x in group.node.input_tensors])
        if not inputs or any(x is None for x in inputs):
            return group.deltas
        return (*group.deltas, name_is("inputs", inputs))
    payload = memory.payload
    names = {"p": payload(group.variable.get_value(borrow=True))}
    if group.name in gradients:
        names["g"] = gradients[group.name]
    for word, v in group.slots:
        names[word] = payload(v.get_value(borrow=True))
    return (*group.deltas, *[new_delta((name, None, value)) for name, value in names.items()])


def _always_of(group: Group, memory: Memory) -> tuple[Delta, ...]:
    """Return the names that are the same at each call of a function."""
    ref, names = memory.describer.ref, []
    if group.depth is not None:
        names.append(name_is("depth", group.depth))
    if group.node is not None:
        names.append(name_is("node", ref(group.node)))
        names.append(name_is("layer", ref(group.node.outbound_layer)))
    return tuple(names)

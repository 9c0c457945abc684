"""Run a function's call again from its tape, to see what if a tensor had been another.

A call depends on nothing but the arrays that it is fed and the values of the variables that it
reads, draw counts of random ops among them. Both stand on the tape. So any call that was recorded
can be run again, with the same result bit for bit, or with another array put into its slots on the
way. The living variables are as before when that is done, and no observer of the program hears it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor, Variable
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.stage import observing
from kerascope.trace.events import BEGIN, END, Delta, Event
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionHearer
from kerascope.trace.recorder_plan import Plan
from kerascope.trace.sources import begin_of
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import Override

OUT = ("out", "result")


class Call(NamedTuple):
    """One call of a function on a tape.

    Attributes
    ----------
    function : Function
    plan : Plan
    begin, first_op : int
        Times of its begin and of its first op; without ops both are the same.
    """

    function: Function
    plan: Plan
    begin: int
    first_op: int


def call_at(recorder: Recorder, tape: Tape, t: int, where: str = "set") -> Call:
    """Return the innermost call of a function around a time, if its function still lives.

    Raises
    ------
    ArgumentError
        There is none.
    """
    spans = tape.spans_at(t) if 0 <= t < len(tape) else []
    begun = begin_of(tape[t], tape) if spans and tape[t].ph == END else None
    for span in reversed([*spans, *([begun] if begun else [])]):
        inside = list(_inside(tape, span.t)) if span.kind == "function" else []
        ops = [event for event in inside if event.kind == "op" and event.ph == BEGIN]
        function = _function_of(recorder, span, {op.name for op in ops})
        if function is not None:
            first = ops[0].t if ops else span.t
            return Call(function, recorder.memory.plans[function], span.t, first)
    raise ArgumentError(
        f"{where}: at t={t} no function is being called, so no tensor has a value that could be "
        f"another. Go into one: b phase:forward, then c."
    )


def _function_of(recorder: Recorder, span: Event, ops: set[str]) -> Function | None:
    """Return the living function that a span speaks of: one of its name that has its ops."""
    if span.kind != "function":
        return None
    paused = [h.function for h in recorder.hearers if isinstance(h, FunctionHearer)]
    known = [*reversed(paused), *reversed(list(recorder.memory.plans))]
    for function in known:
        plan = recorder.memory.plans.get(function)
        if function.name == span.name and plan and ops <= {step.name for step in plan.steps}:
            return function
    return None


def _inside(tape: Tape, begin: int) -> Iterator[Event]:
    """Yield the events of the span that begins at a time, its end among them."""
    depth = tape[begin].depth
    for t in range(begin + 1, len(tape)):
        yield tape[t]
        if tape[t].depth <= depth:
            return


# --- which slot a name means ----------------------------------------------------------------------


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
    if wanted not in slots:
        raise ArgumentError(
            f"{where}: {plan.function.name} has no tensor {name!r}. {did_you_mean(wanted, slots)}"
            "Expected out, the name of a tensor or a weight, or of a layer for its output."
        )
    return slots[wanted]


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
        array = np.asarray(value, dtype=tensor.dtype)
        return np.array(np.broadcast_to(array, np.shape(current)))
    except (TypeError, ValueError):
        shape = getattr(value, "shape", None)
        got = f"shape {shape}" if shape is not None else repr(value)
        raise ArgumentError(
            f"{where}: {tensor.name} is {tensor.dtype} of shape {np.shape(current)}; got {got}."
        ) from None


# --- putting another array into a paused call -----------------------------------------------------


def override(recorder: Recorder, name: str, value: Any) -> tuple[np.ndarray, np.ndarray]:
    """Put another array into the call that is paused at the last event; return old and new.

    The event says so afterwards too.

    Raises
    ------
    ArgumentError
        No call is paused, the name means nothing in it, or its array is not there now.
    """
    event = recorder.tape[-1]
    hearer = recorder.hearers[-1] if recorder.hearers else None
    if not isinstance(hearer, FunctionHearer):
        raise ArgumentError("set: no function is paused here. Go into one: b phase:forward, c.")
    plan = hearer.plan
    slot = slot_of(plan, name, event)
    old = hearer.current(slot)
    if old is None:
        raise ArgumentError(_not_there(name_of(plan, slot), plan, event))
    new = fitted(value, tensor_of(plan, slot), old)
    hearer.override(slot, new)
    recorder.tape.amend(amended(event, plan, slot, old, new))
    return old, new


def _not_there(name: str, plan: Plan, event: Event) -> str:
    return (
        f"set: {name} has no array at t={event.t}: it is not computed yet, or nobody reads it any "
        f"more. Stop where it comes out: tbreak tensor:{name}:ret."
    )


def amended(event: Event, plan: Plan, slot: int, old: Any, new: np.ndarray) -> Event:
    """Return an event that speaks of the new array where it spoke of the old one."""

    def changed(value: Any) -> Any:
        if value is old:
            return new
        return tuple(changed(item) for item in value) if type(value) is tuple else value

    deltas = tuple(Delta(d.name, d.key, changed(d.value)) for d in event.deltas)
    if not any(_has(delta.value, new) for delta in deltas):
        deltas = (*event.deltas, *_deltas_of(plan, slot, new))
    return replace(event, deltas=deltas)


def _has(value: Any, array: np.ndarray) -> bool:
    return value is array or (type(value) is tuple and any(_has(item, array) for item in value))


def _deltas_of(plan: Plan, slot: int, array: np.ndarray) -> tuple[Delta, ...]:
    """Return the deltas by which the names of a slot become another array."""
    key = plan.keys.get(tensor_of(plan, slot))
    if key is not None:
        return (Delta("tensor_map", key, (array, None)),)
    for planned in plan.steps:
        for name, own, position in planned.brings:
            if planned.step.outputs[position] == slot and name != "mask":
                return (Delta(name, own, array),)
    return (Delta("overridden", name_of(plan, slot), array),)


# --- running again --------------------------------------------------------------------------------


def rerun(recorder: Recorder, tape: Tape, call: Call, overrides: Sequence[Override] = ()) -> Tape:
    """Run a call again and return the tape of it, with the past before it at its beginning.

    Parameters
    ----------
    recorder : Recorder
        That heard the program.
    tape : Tape
        On which the call was recorded, its begin at least.
    call : Call
    overrides : sequence of Override
        At which times which tensors become another. Without any the events come out the same.

    Raises
    ------
    ArgumentError
        What the call was fed is not on the tape any more; or an override does not fit.
    """
    begin = tape.names_at(call.begin)
    inputs = list(begin.get("inputs", ()))
    values = _values_of(call, begin)
    early = [o for o in overrides if o.t < call.first_op]
    waiting = sorted((o for o in overrides if o.t >= call.first_op), key=lambda o: o.t)
    if len(inputs) != len(call.function.inputs) or not all(_is_array(x) for x in inputs):
        raise ArgumentError(_too_late(call.begin))
    for o in early:
        _override_early(call, tape, o, inputs, values)
    again = Recorder(recorder.level, history=tape.history)
    again.memory = recorder.memory.beside()
    again.describer = again.memory.describer
    before = tape.names_at(call.begin - 1).get("weights", {}) if call.begin else {}
    again.memory.values.update((v, before[v.name]) for v in values if v.name in before)
    again.go_on_from(tape, call.begin)

    def listen(event: Event) -> None:
        while waiting and waiting[0].t <= event.t:
            o = waiting.pop(0)
            override(again, o.name, o.value)

    again.listeners.append(listen)
    with _with_values(values):
        Context().run(_run, again, call.function, inputs)
    return again.tape


def _run(recorder: Recorder, function: Function, inputs: list[Any]) -> None:
    with observing(recorder):
        function.stage(inputs).run()


def _values_of(call: Call, names: dict[str, Any]) -> dict[Variable, np.ndarray]:
    """Return the values that the variables of a call had at its begin."""
    weights = names.get("weights", {})
    variables = [v for _, v in call.function.schedule.variables]
    variables += [update.variable for update in call.function.updates]
    variables = list(dict.fromkeys(variables))
    if len({v.name for v in variables}) != len(variables):
        raise ArgumentError(
            f"set: two variables of {call.function.name} have one name, so the tape cannot tell "
            "them apart. Give their layers names of their own."
        )
    if not all(_is_array(weights.get(v.name)) for v in variables):
        raise ArgumentError(_too_late(call.begin))
    return {v: weights[v.name] for v in variables}


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _too_late(t: int) -> str:
    return (
        f"set: the call at t={t} cannot be run again: only the figures of its arrays are left. "
        "Keep more: set history 1GB."
    )


def _override_early(
    call: Call, tape: Tape, o: Override, inputs: list[Any], values: dict[Variable, np.ndarray]
) -> None:
    """Change what a call begins with."""
    slot = slot_of(call.plan, o.name, tape[o.t])
    tensor = tensor_of(call.plan, slot)
    if slot < len(inputs):
        inputs[slot] = fitted(o.value, tensor, inputs[slot])
    elif isinstance(tensor, Variable) and tensor in values:
        values[tensor] = fitted(o.value, tensor, values[tensor])
    else:
        raise ArgumentError(_not_there(name_of(call.plan, slot), call.plan, tape[o.t]))


@contextmanager
def _with_values(values: dict[Variable, np.ndarray]) -> Iterator[None]:
    """Let variables have other values inside the block; afterwards they are what they were."""
    before = {variable: variable.get_value(borrow=True) for variable in values}
    try:
        for variable, array in values.items():
            variable.commit(np.asarray(array))
        yield
    finally:
        for variable, array in before.items():
            variable.commit(array)

"""Recording one call of a function: its ops in phases and nodes, then the commit.

All new values are computed (phase "update") before any variable is written (phase "commit"). An op
is recorded before it is performed, with its inputs, and afterwards, with its output.

Lesson: chapter 14.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kerascope.backend.atomic import replace_arrays
from kerascope.backend.function import Function, Update
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.schedule import Schedule, Step, is_needed
from kerascope.backend.variables import Variable
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, ShapeError
from kerascope.registry import did_you_mean
from kerascope.stage import Stage
from kerascope.trace.event_writer import FILE, StageRecorder, line_of_use, named
from kerascope.trace.events import NO_FACTS, Delta, Where, new_delta
from kerascope.trace.function_plan import (
    NO_CALLS,
    FunctionPlan,
    Group,
    Path,
    PlannedStep,
    slots_by_name,
)
from kerascope.trace.journal import UNKNOWN, CallRecord, UnrecordedRun, trim
from kerascope.trace.op_places import place_of_call, place_of_layer
from kerascope.trace.snapshots import ErrorRef
from kerascope.trace.statistics import count_inf, count_nan
from kerascope.trace.training_info import Memory

LARGE = 2**20  # bytes; after a larger array the tape counts its bytes at once


class FunctionRecorder(StageRecorder):
    """Records a call of a function: its phases, layer calls and ops, and the variables written."""

    def __init__(self, recorder: Any, stage: Stage) -> None:
        super().__init__(recorder, stage)
        self.function: Function = stage.subject
        memory = recorder.memory
        plan = memory.plans.get(self.function)
        if plan is None or (plan.facts is None and memory.facts(self.function) is not None):
            plan = memory.plans[self.function] = FunctionPlan(self.function, memory)
            record_spoilt_constants(plan, memory)
        self.plan: FunctionPlan = plan
        self._inner = plan.inner  # the op's index in the schedule
        self._inside = NO_CALLS  # open inner calls
        self._keeps_arrays = not memory.statistics_only
        self._figures_of = memory.figures.of
        self._kept = self._kept_array if self._keeps_arrays else self._kept_figures
        self._records_ops = recorder.records("op")
        self._expected: PlannedStep | None = None
        self._index = 0
        self._phase = ""
        self._group: Group | None = None
        self._depth: int | None = None
        self._values: list[Any] = []
        self._fed: dict[int, np.ndarray] = {}  # the caller's arrays, by id
        self._copies: dict[int, Any] = {}  # copies of the caller's arrays by slot
        self._arrays: dict[str, Any] = {}  # by key of tensor_map
        self._gradients: dict[str, Any] = {}  # by the names of the parameters
        self._terms: dict[int, Any] = {}  # the terms of summed gradients by slot
        self._is_paused = self._is_committed = False
        self.was_overridden = False  # whether an array of the call was replaced
        self.seen: dict[Variable, Any] = {}  # set variables, with the values recorded before
        self._made_at: tuple[str, int] | None = None
        self._around = ("", "")  # the act and phase around the call
        self._written: dict[Variable, Delta] = {}  # by variable, after the commit
        self._line_of_updates = Where()
        self._new: Any = None
        self._total_loss: Any = None

    # --- start ------------------------------------------------------------------------------------

    def started(self) -> None:
        """Record the start of the call, its inputs, and the variables set since the last call."""
        function, memory = self.function, self.memory
        self.recorder.journal.begin_recorded(function)
        self.began_at = self.recorder.tape.next_time
        memory.figures.may_wait = True
        self.old = {u.variable: u.variable.get_value(borrow=True) for u in function.updates}
        self._copies, self._fed = fed_copies(self.stage, function.schedule)
        self._values = function.schedule.start(list(self._copies.values()))
        memory.note_twins(function, self.recorder.tape.next_time)
        is_set = variables_set(function.schedule, memory)
        weights = [Delta("weights", v.name, memory.payload(array)) for v, array, _ in is_set]
        names = named(**names_at_start(self.plan, self._copies, self.old, memory))
        self._arrays = {
            key: memory.payload(self._copies[slot])
            for slot, x in enumerate(function.schedule.inputs)
            if (key := self.plan.keys.get(x)) is not None and slot in self._copies
        }
        self._made_at = self.recorder.began_at()
        self._around = self.recorder._act, self.recorder._phase
        begun = self._made_at or ("", 0)
        where = Where(FILE, line_of_use(Function._events, Schedule.start), "_events", *begun)
        self.recorder.begin(
            "function", function.name, where, (*names, *weights), self.plan.facts_of_call
        )
        self.seen = {v: UNKNOWN if before is None else before for v, _, before in is_set}
        self._sets = sum(before is not None for *_, before in is_set)
        for (v, _, before), delta in zip(is_set, weights, strict=True):
            if before is not None:
                (old,) = named(old=memory.payload(before))
                self.recorder.record("weight.set", v.name, where, (delta, old))
        self._expect(0)

    # --- ops --------------------------------------------------------------------------------------

    def event(self, event: Any) -> None:
        """Record that an op ended and the next one starts, or that a variable was written."""
        if not isinstance(event, Step):
            if isinstance(event, Update):
                self._record_update(event)
            return
        if not self._is_paused:
            self._is_paused = True
            self._values = self.stage.names["values"]
        planned = self._expected
        if planned is None or planned.step is not event:
            planned = self._find(event)
        self._end_op(planned)
        self._expect(self._index + 1)

    def _end_op(self, planned: PlannedStep) -> None:
        if not (self._records_ops or planned.brings):
            return
        recorder, values, outputs = self.recorder, self._values, planned.step.outputs
        deltas: tuple[Delta, ...]
        if len(outputs) == 1:
            slot = outputs[0]
            results = (self._kept(slot, values[slot]),)
            deltas = (planned.op, new_delta(("result", None, results[0])))
            if planned.is_term:
                self._terms[slot] = results[0]
            if planned.is_plain and self._records_ops:
                recorder.end_op(planned.where, deltas)
                return
        else:
            results = tuple([self._kept(slot, values[slot]) for slot in outputs])
            self._terms.update(zip(outputs, results, strict=True) if planned.is_term else ())
            deltas = (planned.op, Delta("result", None, results))
        if planned.brings:
            deltas += tuple(
                [self._brought(name, key, results[i]) for name, key, i in planned.brings]
            )
        if planned.via:
            terms = ((label, self._terms.get(slot)) for label, slot in planned.via)
            deltas += (Delta("via", None, tuple(terms)),)
        if not self._records_ops:
            recorder.note(*deltas[2:])
            return
        recorder.end_op(planned.where, deltas)
        for kind, name, i in planned.details:
            recorder.record(kind, name, planned.where, (Delta("value", None, results[i]),))

    def _kept_figures(self, slot: int, array: Any) -> Any:
        if array.__class__ is np.ndarray and array.ndim and array.dtype.kind in "fiub":
            return self._figures_of(array)
        return self.memory.payload(array)

    def _kept_array(self, slot: int, array: Any) -> Any:
        """Return the output of an op for the tape, copied if it may share the caller's memory."""
        if array.__class__ is not np.ndarray:
            return self.memory.payload(array)
        fed = self._fed
        if (array.base is not None or id(array) in fed) and any(
            np.may_share_memory(array, x) for x in fed.values()
        ):
            array = self._copies[slot] = array.copy()
        if array.nbytes >= LARGE:
            self.recorder.tape.hurry()
        return array

    def _brought(self, name: str, key: Any, array: Any) -> Delta:
        if name == "tensor_map":
            self._arrays[key] = array
            slot = self.plan.masks.get(key)
            mask = None if slot is None else self._values[slot]
            if mask is not None:
                mask = self.memory.payload(mask)
            return new_delta((name, key, (array, mask)))
        if name == "mask":
            if key in self._arrays:
                return Delta("tensor_map", key, (self._arrays[key], array))
            return Delta("mask", None, array)
        if name == "grads":
            self._gradients[key] = array
        elif name == "total_loss":
            self._total_loss = array
        elif name == "updates" and self._group is not None and self._group.name == key:
            self._new = array
        return new_delta((name, key, array))

    def _expect(self, index: int) -> None:
        """Record the start of the next op that will run; after the last op, that of the commit.

        `index` is the position in the plan from which to search.
        """
        steps, values = self.plan.steps, self._values
        count = len(steps)
        while index < count:
            planned = steps[index]
            guards = planned.step.guards
            if not guards or is_needed(guards, values):
                self._index = index
                self._begin_op(planned)
                return
            index += 1
        self._index = index
        self._expected = None
        self._leave_phase()
        if self.function.updates:
            self._phase = "commit"
            where = Where(FILE, line_of_use(Function._events, replace_arrays), "_events")
            self.recorder.begin("commit", "commit", where)

    def _begin_op(self, planned: PlannedStep) -> None:
        self._expected = planned
        if planned.phase != self._phase:
            self._leave_phase()
            self._phase = planned.phase
            where = planned.around._replace(
                user_file="", user_line=0
            )  # a phase has no line of a layer
            self.recorder.begin(planned.phase, planned.phase, where)
        if planned.group is not self._group:
            self._leave_group()
            if planned.group is not None:
                self._enter_group(planned.group, planned.around)
        if self._inner[self._index] is not self._inside:
            self._enter_inner(self._inner[self._index], planned.around)
        if not self._records_ops:
            return
        if self._keeps_arrays:
            values, copies = self._values, self._copies
            arrays = tuple([copies[s] if s in copies else values[s] for s in planned.step.inputs])
            deltas = (*planned.deltas, new_delta(("inputs", None, arrays)))
            self.recorder.begin_op(planned.name, planned.where, deltas, planned.facts)
        else:
            self.recorder.begin_op(planned.name, planned.where, planned.deltas, NO_FACTS)

    def _find(self, step: Step) -> PlannedStep:
        """Return the planned step of an op that runs although another op was expected.

        This happens if the user changed the condition of a branch. Also record the start of the op.
        """
        if self._expected is not None and self._records_ops:
            self.end(error=ErrorRef("skipped", "its condition changed"))
        elif self._expected is None:
            self._leave_phase()
            if self._phase == "commit":
                self._phase = ""
                self.recorder.end()
        self._index = next(i for i, p in enumerate(self.plan.steps) if p.step is step)
        planned = self.plan.steps[self._index]
        self._begin_op(planned)
        return planned

    def current(self, slot: int) -> Any:
        """Return the current array in a slot of the paused call; None if the slot has none."""
        if not self._is_paused or self._is_committed:
            return None
        copies = self._copies
        return copies[slot] if slot in copies else self._values[slot]

    def override(self, slot: int, array: np.ndarray) -> None:
        """Replace the current array in a slot of the paused call."""
        self.was_overridden = True
        old = self._values[slot]
        self._new = array if self._new is old else self._new
        self._total_loss = array if self._total_loss is old else self._total_loss
        self._gradients = {k: array if g is old else g for k, g in self._gradients.items()}
        self._values[slot] = array
        if slot in self._copies:
            self._copies[slot] = array
        slots = self.plan.slots
        for tensor, key in self.plan.keys.items():
            if slots.get(tensor) == slot:
                self._arrays[key] = array

    # --- groups and phases ------------------------------------------------------------------------

    def _enter_group(self, group: Group, where: Where) -> None:
        recorder = self.recorder
        self._group = group
        if group.depth is not None and group.depth != self._depth:
            self._leave_depth()
            self._depth = group.depth
            here = where._replace(user_file="", user_line=0)
            recorder.begin("depth", f"depth {group.depth}", here, named(depth=group.depth))
        arrays, memory = self._arrays, recorder.memory
        if group.node is not None and group.depth is not None:
            where = place_of_call(where, group.node)
        names = names_of_group(group, self._gradients, arrays, self.plan, memory, self._values)
        recorder.begin(group.kind, group.name, where, names)

    def _enter_inner(self, path: Path, where: Where) -> None:
        """End the calls of inner layers that do not contain the next op; begin those that do."""
        inside, self._inside = self._inside, path
        same = sum(one is other for one, other in zip(inside, path, strict=False))
        recorder, memory = self.recorder, self.memory
        for call in reversed(inside[same:]):
            array = None if call.slot is None else self.current(call.slot)
            recorder.end(() if array is None else named(result=memory.payload(array)))
        for call in path[same:]:
            layer = call.layer
            made = place_of_layer(where, layer)
            arrays = [self._copies.get(slot, self._values[slot]) for slot in call.inputs]
            inputs = tuple([memory.payload(array) for array in arrays])
            recorder.begin("node", layer.name, made, named(layer=self.ref(layer), inputs=inputs))

    def _leave_group(self) -> None:
        self._enter_inner(NO_CALLS, Where())
        group, self._group = self._group, None
        if group is None:
            return
        deltas: tuple[Delta, ...] = ()
        if group.depth is not None:
            results = [self._arrays.get(key) for key in group.keys]
            if results and all(result is not None for result in results):
                deltas = named(result=results[0] if len(results) == 1 else tuple(results))
        elif group.variable is not None and self._new is not None:
            deltas = named(new_p=self._new, result=self._new)
            self._new = None
        self.recorder.end(deltas)

    def _leave_depth(self) -> None:
        if self._depth is not None:
            self._depth = None
            self.recorder.end()

    def _leave_phase(self) -> None:
        self._leave_group()
        self._leave_depth()
        if self._phase and self._phase != "commit":
            result = self._result_of_phase()
            self._phase = ""
            self.recorder.end(() if result is None else named(result=result))

    def _result_of_phase(self) -> Any:
        """Return the result of the phase: outputs of "forward", or the total loss of "loss".

        Other phases have the result None.
        """
        if self._phase == "loss":
            return self._total_loss
        if self._phase != "forward" or self.plan.facts is None:
            return None
        keys = [self.plan.keys.get(y, "") for y in self.plan.facts.model.outputs]
        outs = [self._arrays.get(key) for key in keys]
        if any(out is None for out in outs):
            return None
        return outs[0] if len(outs) == 1 else tuple(outs)

    # --- commit and end ---------------------------------------------------------------------------

    def _record_update(self, event: Update) -> None:
        v, memory = event.variable, self.memory
        if not self._is_committed:  # all weights are written when the first one is reported
            self._is_committed = True
            self._line_of_updates = self.recorder.where(self.stage)
            for variable in self.old:
                array = memory.values[variable] = variable.get_value(borrow=True)
                delta = new_delta(("weights", variable.name, memory.payload(array)))
                self._written[variable] = delta
            self.recorder.note(*self._written.values())
        written = self._written[v]
        deltas = (
            written,
            new_delta(("old", None, memory.payload(self.old[v]))),
            new_delta(("new", None, written.value)),
        )
        self.recorder.record("update.apply", v.name, self._line_of_updates, deltas)

    def finished(self) -> None:
        """Record the end of the call, with copies of the outputs, which the caller may change."""
        memory, result = self.memory, self.stage.result
        outs = result if isinstance(result, list) else [result]
        kept = [memory.copied(y) for y in outs]
        self.end_all(outputs=kept, result=kept)
        events = self.recorder.tape.next_time - self.began_at - self._sets
        memory.lengths[self.function] = (self.plan, events, self.began_at)
        self._end_in_journal(events, outs)
        memory.figures.settle(memory.values.values())
        for around in self.observers[-2:-1]:
            around.function_returned(self.function)

    def _end_in_journal(self, events: int, outs: list[Any]) -> None:
        """Add the call to the journal, if the journal also stores calls that have events."""
        recorder = self.recorder
        journal, spans = recorder.journal, list(recorder.spans)
        if not journal.covers_recorded_calls:
            return
        journal.info(self.function).events = events
        times = [self.began_at, recorder.tape.next_time]
        facts = (spans, *self._around, None, 0, frozenset[str](), times)
        run = UnrecordedRun(journal, self.function, len(journal.rows), *facts)
        fed = [self._copies[slot] for slot in range(len(self.function.inputs))]
        row = CallRecord(0, 0, trim(outs), fed, {}, self.seen, self._made_at)
        journal.end_recorded(run, row, self.was_overridden)


# --- the start of a call --------------------------------------------------------------------------


def fed_copies(
    stage: Stage, schedule: Schedule
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Return copies of the inputs by slot, and the caller's arrays by id.

    Both dicts are empty if number, types or shapes of the inputs are wrong. The function itself
    reports this error.
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
    """Store the current values of variables; return (variable, new, old) for each change.

    The old value is None if no value was recorded before.
    """
    values, found = memory.values, []
    for _, v in schedule.variables:
        array, before = v.get_value(borrow=True), values.get(v)
        if array is not before:
            values[v] = array
            found.append((v, array, before))
    return found


def names_at_start(
    plan: FunctionPlan, copies: dict[int, np.ndarray], written: Container[Any], memory: Memory
) -> dict[str, Any]:
    """Return the local names at the start of a call.

    They are the inputs, values such as the learning rate, and empty containers for later results.
    """
    payload = memory.payload
    names: dict[str, Any] = {"inputs": [payload(x) for x in copies.values()]}
    names["feed_names"] = tuple([x.name for x in plan.function.schedule.inputs])
    facts = plan.facts
    if facts is None:
        return names
    if isinstance(facts.model, Network):
        names["model"] = memory.describer.ref(facts.model)
    names["tensor_map"] = {
        plan.keys[x]: (payload(copies[slot]), None)
        for slot, x in enumerate(plan.function.schedule.inputs)
        if x in plan.keys and slot in copies
    }
    optimizer = plan.optimizer
    if facts.losses.get("total_loss") in plan.slots:
        names.update(total_loss=None, loss_list={}, metrics={})
    if getattr(optimizer, "iterations", None) in written:
        names.update(params=list(plan.params), grads={}, updates={})
        if isinstance(getattr(optimizer, "lr", None), Variable):
            names["lr"] = payload(optimizer.lr.get_value(borrow=True))
        names["t"] = int(optimizer.iterations.get_value(borrow=True)) + 1
    return names


def record_spoilt_constants(plan: FunctionPlan, memory: Memory) -> None:
    """Add non-finite constants to the start of each op that reads them.

    Otherwise no event would show that a NaN comes from a constant.
    """
    schedule = plan.function.schedule
    spoilt = {slot: x for slot, x in schedule.fixed if count_nan(x) or count_inf(x)}
    tensors = {slot: tensor for tensor, slot in schedule.slots.items() if slot in spoilt}
    for planned in plan.steps if spoilt else ():
        own = [slot for slot in planned.step.inputs if slot in spoilt]
        constants = {tensors[slot].name: memory.payload(spoilt[slot]) for slot in own}
        if constants:
            more: tuple[Delta, ...] = (*planned.deltas, *named(constants=constants))
            planned.deltas = more


def names_of_group(
    group: Group,
    gradients: dict[str, Any],
    arrays: dict[str, Any],
    plan: FunctionPlan,
    memory: Memory,
    values: list[Any],
) -> tuple[Delta, ...]:
    """Return, as deltas, the local names at the start of a layer's call or a parameter's update."""
    if group.deltas is None:
        group.deltas = _always_of(group, memory)
    if group.variable is None:
        if group.node is None or group.depth is None:
            return group.deltas
        inputs = tuple([arrays.get(plan.keys.get(x, "")) for x in group.node.input_tensors])
        if not inputs or any(x is None for x in inputs):
            return group.deltas
        return (*group.deltas, *named(inputs=inputs))
    names = {"p": None, "g": gradients.get(group.name)}
    for word, v in [("p", group.variable), *group.slots]:
        value = values[plan.slots[v]] if v in plan.slots else None
        names[word] = memory.payload(v.get_value(borrow=True) if value is None else value)
    if group.name not in gradients:
        del names["g"]
    return (*group.deltas, *named(**names))


def _always_of(group: Group, memory: Memory) -> tuple[Delta, ...]:
    """Return, as deltas, the local names whose values are the same at each call of the function."""
    ref, names = memory.describer.ref, {}
    if group.depth is not None:
        names["depth"] = group.depth
    if group.node is not None:
        names.update(node=ref(group.node), layer=ref(group.node.outbound_layer))
    return named(**names)


# --- overriding an array of a paused call ---------------------------------------------------------


def override(call: FunctionRecorder, name: str, value: Any) -> None:
    """Replace the array of a tensor in a paused call. Later ops of the call use the new array.

    Parameters
    ----------
    call : FunctionRecorder
        The paused call.
    name : str
        A tensor of the function, or a key of `tensor_map`.
    value : array_like
        An array of the same shape. A copy with the tensor's dtype is used.

    Raises
    ------
    ArgumentError
        The function has no tensor of this name, or the tensor has no array at the moment.
    ShapeError
        The shape of `value` is not that of the tensor's array.
    """
    plan = call.plan
    slots = slots_by_name(plan)
    if name not in slots:
        raise ArgumentError(
            f"set {name}: {plan.function.name} has no tensor of this name. "
            f"{did_you_mean(name, slots)}".rstrip()
        )
    slot = slots[name]
    old = call.current(slot)
    if old is None:
        raise ArgumentError(
            f"set {name}: it has no array now. Choose a tensor that has been computed and is "
            f"still needed."
        )
    new = np.array(value, dtype=old.dtype)
    if new.shape != old.shape:
        raise ShapeError(f"set {name}: expected shape {old.shape}, got {new.shape}.")
    call.override(slot, new)
    kept = call.recorder.memory.payload(new)
    deltas = [
        call._brought(own, key, kept)
        for planned in plan.steps
        for own, key, position in planned.brings
        if planned.step.outputs[position] == slot
    ]
    if slot < len(plan.function.inputs) and name in plan.keys.values():
        deltas.append(Delta("tensor_map", name, (kept, None)))
    call.record("override", name, Delta("value", None, kept), *deltas)

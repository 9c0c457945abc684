"""The plan of a function: the phase and node of each op, and the names that it defines.

A function is one list of ops. The model's graph and the `TrainingInfo` recorded when the function
was made determine which ops belong to a layer, a loss or a gradient. Without this information, the
scopes of the ops are used. The plan is computed once for each function, so recording an op costs
little.

Consecutive ops of one call of a layer make a span "node". If the schedule separates the ops of a
call, the sequence with the call's output makes the span. The remaining ops of the call belong
directly to the phase.

A nested model or a wrapper calls layers inside its own call. The model's graph has one Node for all
of these calls, so the scopes of the ops identify the layers: `td/inner/deep/dot` is an op of "deep"
in "inner" in "td". Consecutive ops of the same layer make one call, so two consecutive calls of one
layer look like one.

The last part finds the array that a name means: `out`, `dense_1`, `grads["dense_1/kernel"]` or `p`.
A function stores its arrays in slots. A slot has all names that the tape uses for its array.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, Op, Tensor, applies_in_order
from kerascope.backend.ops.random import RandomOp
from kerascope.backend.schedule import Phase, Step
from kerascope.backend.variables import Variable
from kerascope.engine.node import Node
from kerascope.engine.node_ids import free_id
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.event_writer import FILE, line_of_use
from kerascope.trace.events import END, Delta, Event, Where
from kerascope.trace.history import OF_THE_OUTPUT
from kerascope.trace.op_places import place_of_op
from kerascope.trace.training_info import Memory, TrainingInfo, keys_by_node


@dataclass(eq=False)
class Group:
    """Consecutive ops that make a span: of a layer's call, or of the update of a parameter.

    Attributes
    ----------
    kind : {"node", "update.param"}
    name : str
        The id of the call, or the variable's name.
    node : Node or None
        For a call: its Node.
    depth : int or None
        For a call in the forward pass: its depth in the network.
    variable : Variable or None
        For a parameter's update: the parameter.
    slots : list of (str, Variable)
        For a parameter's update: the optimizer's slots, as ("m", its variable).
    keys : list of str
        For a call: the keys of its outputs in `tensor_map`.
    deltas : tuple of Delta or None
        The local names whose values are the same at each call of the function; None until they
        are first needed.
    """

    kind: str
    name: str
    node: Node | None = None
    depth: int | None = None
    variable: Variable | None = None
    slots: list[tuple[str, Variable]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    deltas: tuple[Delta, ...] | None = None


@dataclass(eq=False, slots=True)
class PlannedStep:
    """An op of a function, with the parts of its events that are the same at each call.

    Attributes
    ----------
    step : Step
    name : str
        The name of the op's tensor. A name that is repeated in the function gets a number.
    phase : str
        The phase of the op, such as "forward".
    group : Group or None
        The layer's call or parameter's update that the op belongs to.
    around : Where
        The source lines for a span (a phase or a layer's call) that begins with this op.
    where : Where
        The source lines for the events of the op.
    op : Delta
        The op's name.
    deltas : tuple of Delta
        The deltas of the op's start event.
    facts : mapping
        The `facts` of the op's start event: its expression, "log(d/add) -> d/log".
    is_plain : bool
        Whether its outputs have no other names and no detail events.
    brings : list of (str, object, int)
        Names that its outputs define: (name of the container or value, key, position of the
        output).
    details : list of (str, str, int)
        The detail events of the op: (kind, name, position of the output).
    via : list of (str, int)
        If the op computes a gradient that is a sum: for each term, the call from which it comes,
        and the term's slot.
    is_term : bool
        Whether the op computes a term of such a sum.
    """

    step: Step
    name: str
    phase: str
    around: Where
    where: Where
    op: Delta
    deltas: tuple[Delta, ...]
    facts: Mapping[str, Any]
    is_plain: bool = False
    group: Group | None = None
    brings: list[tuple[str, Any, int]] = field(default_factory=list)
    details: list[tuple[str, str, int]] = field(default_factory=list)
    via: list[tuple[str, int]] = field(default_factory=list)
    is_term: bool = False


class FunctionPlan:
    """The plan of a function: phases, groups and names for the ops of its schedule.

    Attributes
    ----------
    steps : list of PlannedStep
        One for each step of the schedule.
    keys : dict of Tensor to str
        For each tensor, its key in `tensor_map`.
    masks : dict of str to int
        The slot of the mask for a key of `tensor_map`.
    optimizer : Optimizer or None
        The model's optimizer.
    params : list of str
        The names of the trained weights when the function was first called.
    inner : list of Path
        For each op, the `InnerCall`s that contain it, the outermost first.
    facts_of_call : mapping
        The `facts` of the event that begins a call.
    """

    def __init__(self, function: Function, memory: Memory) -> None:
        self.function = function
        self.facts = memory.facts(function)
        # The model may be compiled again; the function keeps its optimizer.
        model: Any = None if self.facts is None else self.facts.model
        self.optimizer: Any = getattr(model, "optimizer", None)
        self.params = [p.name for p in getattr(model, "_collected_trainable_weights", None) or []]
        self.keys: dict[Tensor, str] = {}
        self.masks: dict[str, int] = {}
        self.slots = function.schedule.slots
        self._swept = memory.swept_of.get(function, {})
        self._new_values = {update.new_value: update.variable for update in function.updates}
        self._only_for_loss = self._ops_of_added_losses()
        if self.facts is not None:
            self._find_keys(self.facts)
        self.steps: list[PlannedStep] = []
        taken: dict[str, None] = {}
        performing = line_of_use(Function._events, Op.perform)
        for step in function.schedule.steps:
            name, op = free_id(step.apply.name, taken), Delta("op", None, step.apply.op.name)
            taken[name] = None
            around = Where(FILE, performing, "_events", *(step.apply.scope.made_at or ("", 0)))
            where = place_of_op(around, step.apply)
            phase = self._phase_of(step)
            facts = {"expression": repr(step.apply)}
            self.steps.append(PlannedStep(step, name, phase, around, where, op, (op,), facts))
        self._group()
        brings = self._brings()
        masks = {slot: key for key, slot in self.masks.items()}
        sums = self._sums()
        for planned in self.steps:
            self._plan(planned, brings, masks)
            planned.via = [one for y in planned.step.apply.outputs for one in sums.get(y, ())]
        terms = {slot for planned in self.steps for _, slot in planned.via}
        for planned in self.steps:
            planned.is_term = not terms.isdisjoint(planned.step.outputs)
        self.inner = inner_calls(self)
        self.facts_of_call = self._facts_of_call()

    def _facts_of_call(self) -> Mapping[str, Any]:
        """Return the `facts` of the event that begins a call: the function's outputs and variables.

        Roles of optimizer slots ("dense_1/kernel/m") and tensors with the name of their op are left
        out, because the names show these roles and ops.
        """
        function, facts = self.function, self.facts
        found: dict[str, Any] = {"ops": len(self.steps), "updates": len(function.updates)}
        roles: dict[str, str] = {}
        if facts is None or function.name != "train_function":
            found["outputs"] = [y.name for y in function.outputs]
        else:
            known = facts.roles()
            roles = {u.variable.name: known.get(u.variable, "state") for u in function.updates}
            found.update(trains=str(facts.model.name), outputs=facts.output_names)
            found["roles"] = {
                role: [name for name, own in roles.items() if own == role]
                for role in ("parameter", "iterations", "state")
            }
            made = {
                key: one.step.apply.name
                for one in self.steps
                for name, key, _ in one.brings
                if name == "tensor_map"
            }
            names = {key: facts.name_of(x) for x, key in self.keys.items()}
            names = {key: name for key, name in names.items() if name != made.get(key, key)}
            found.update({"tensors": names} if names else {})
        found["reads"] = [v.name for _, v in function.schedule.variables if v.name not in roles]
        return found

    def _ops_of_added_losses(self) -> set[Apply]:
        """Return the ops that the total loss needs and no output of the model needs.

        They include the ops of losses that `add_loss` adds. Without a total loss, the set is empty.
        """
        loss = self.facts.losses.get("total_loss") if self.facts is not None else None
        if self.facts is None or loss is None:
            return set()
        fed = self.function.inputs
        own = applies_in_order(self.facts.model.outputs, fed=fed)
        return set(applies_in_order([loss], fed=fed)) - set(own)

    def _find_keys(self, facts: TrainingInfo) -> None:
        self.keys = keys_by_node(facts.ids)
        for node in facts.ids:
            for y, mask in zip(node.output_tensors, node.output_masks, strict=False):
                if mask is not None and mask in self.slots and y in self.keys:
                    self.masks[self.keys[y]] = self.slots[mask]

    # --- phases and groups ------------------------------------------------------------------------

    def _phase_of(self, step: Step) -> str:
        """Return the phase of a step, from the model's graph or, without a model, the schedule."""
        if self.facts is None or step.phase >= Phase.BACKWARD:
            return step.phase.word
        if step.apply in self.facts.calls:
            return "forward"
        return "loss" if step.apply in self._only_for_loss else step.phase.word

    def _group(self) -> None:
        """Make a group for each layer call and each parameter's update, from consecutive ops.

        If the ops of a call are in several sequences, the group has the sequence that computes the
        output or the new value. If none does, as for gradients, it has the longest sequence.
        """
        labels = [self._label(planned) for planned in self.steps]
        runs: dict[tuple[str, str], list[list[int]]] = {}
        for i, label in enumerate(labels):
            if label is None:
                continue
            own = runs.setdefault(label, [])
            if own and own[-1][-1] == i - 1:
                own[-1].append(i)
            else:
                own.append([i])
        for (_, name), several in runs.items():
            main = max(several, key=lambda run: self._weight(run, name))
            group = self._make_group(self.steps[main[-1]], name)
            for i in main:
                self.steps[i].group = group

    def _weight(self, run: list[int], name: str) -> tuple[bool, int]:
        """Return the sort key with which `_group` chooses a sequence of ops.

        The key is whether the sequence computes an output of a layer or the new value of the
        variable `name`, and the number of ops.
        """
        outputs = [y for i in run for y in self.steps[i].step.apply.outputs]
        new = {self._new_values[y].name for y in outputs if y in self._new_values}
        return any(y in self.keys for y in outputs) or name in new, len(run)

    def _label(self, planned: PlannedStep) -> tuple[str, str] | None:
        apply, facts = planned.step.apply, self.facts
        scope = apply.scope.name
        if planned.phase == "forward":
            if facts is not None:
                place = facts.calls.get(apply) or facts._only_calls.get(scope)
                return ("forward", facts.ids[place.node]) if place else None
            return ("forward", scope) if scope else None
        if planned.phase == "backward":
            swept = self._swept.get(apply)
            if swept is not None and facts is not None:
                name = facts.label(swept)
            else:
                name = scope.partition("/")[2]
            return ("backward", name) if name else None
        if planned.phase == "update" and scope.startswith("update/"):
            return ("update", self._parameter(scope.removeprefix("update/")))
        return None

    def _parameter(self, scope: str) -> str:
        """Return the name of the parameter whose update has this scope, otherwise the scope."""
        names = [update.param.name for update in self.facts.updates] if self.facts else []
        around = [n for n in names if scope == n or scope.startswith(f"{n}/")]
        return max(around, key=len) if around else scope

    def _make_group(self, planned: PlannedStep, name: str) -> Group:
        group = Group("update.param" if planned.phase == "update" else "node", name)
        facts = self.facts
        if planned.phase == "update":
            for update in facts.updates if facts is not None else ():
                if update.param.name == name:
                    group.variable = update.param
                    group.slots = [
                        (v.name.rpartition("/")[2], v)
                        for v, _ in update.pairs
                        if v is not update.param
                    ]
        elif facts is not None:
            group.node = next((node for node, own in facts.ids.items() if own == name), None)
            if group.node in facts.ids and planned.phase == "forward":
                places = [facts.places.get(y) for y in group.node.output_tensors]
                group.depth = next((place.depth for place in places if place), None)
                group.keys = [self.keys[y] for y in group.node.output_tensors]
        return group

    # --- names that an op defines -----------------------------------------------------------------

    def _brings(self) -> dict[Tensor, list[tuple[str, Any]]]:
        """Return, for each tensor, the names of its array on the tape, as (name, key) pairs."""
        found: dict[Tensor, list[tuple[str, Any]]] = {}

        def add(tensor: Tensor, name: str, key: Any = None) -> None:
            found.setdefault(tensor, []).append((name, key))

        for tensor, key in self.keys.items():
            add(tensor, "tensor_map", key)
        for tensor, variable in self._new_values.items():
            add(tensor, "updates", variable.name)
        facts = self.facts
        if facts is not None:
            for name, tensor in facts.losses.items():
                if tensor is not None:
                    add(tensor, name) if name == "total_loss" else add(tensor, "loss_list", name)
            for name, tensor in facts.metrics.items():
                add(tensor, "metrics", name)
            for arrival in facts.arrivals:
                wrt = arrival.wrt
                add(
                    arrival.gradient,
                    "grads",
                    wrt.name if arrival.is_weight else self.keys.get(wrt, wrt.name),
                )
        return found

    def _sums(self) -> dict[Tensor, list[tuple[str, int]]]:
        """For each gradient that is a sum, return the layer call and the slot of each term."""
        found: dict[Tensor, list[tuple[str, int]]] = {}
        facts = self.facts
        for arrival in facts.arrivals if facts is not None else ():
            terms = facts.contributions.get(arrival.wrt, ()) if facts is not None else ()
            if facts is not None and len(terms) > 1 and all(x in self.slots for _, x in terms):
                found[arrival.gradient] = [(facts.label(op), self.slots[x]) for op, x in terms]
        return found

    def _plan(
        self,
        planned: PlannedStep,
        brings: dict[Tensor, list[tuple[str, Any]]],
        masks: dict[int, str],
    ) -> None:
        step = planned.step
        for position, (y, slot) in enumerate(zip(step.apply.outputs, step.outputs, strict=True)):
            for name, key in brings.get(y, ()):
                planned.brings.append((name, key, position))
                if name == "metrics":
                    planned.details.append(("metric.value", key, position))
            if slot in masks:
                planned.brings.append(("mask", masks[slot], position))
                planned.details.append(("mask", masks[slot], position))
        if isinstance(step.apply.op, RandomOp):
            planned.details.append(("rng.draw", planned.name, 0))
        planned.is_plain = not planned.brings and not planned.details


# --- calls inside a call --------------------------------------------------------------------------


class InnerCall:
    """One call of a layer inside the call of another layer.

    Attributes
    ----------
    layer : Layer
    first, last : int
        Positions of its ops in the schedule.
    inputs : list of int
        Slots that the call reads but does not compute: fed arrays and earlier results.
    slot : int or None
        The slot of the output if a forward call has exactly one; otherwise None.
    """

    def __init__(self, layer: Any, first: int) -> None:
        self.layer = layer
        self.first = self.last = first
        self.inputs: list[int] = []
        self.slot: int | None = None


Path = tuple[InnerCall, ...]
NO_CALLS: Path = ()


def inner_calls(plan: FunctionPlan) -> list[Path]:
    """Return, for each op, the `InnerCall`s that contain it, the outermost first."""
    paths: list[Path] = []
    before: PlannedStep | None = None
    for place, planned in enumerate(plan.steps):
        layers = _layers_inside(plan, planned)
        old = paths[-1] if before is not None and before.group is planned.group else NO_CALLS
        same = 0
        while same < min(len(old), len(layers)) and old[same].layer is layers[same]:
            same += 1
        new = [InnerCall(layer, place) for layer in layers[same:]]
        path = (*old[:same], *new) if new or same < len(old) else old
        for call in path:
            call.last = place
        paths.append(path)
        before = planned
    _find_ends(plan, dict.fromkeys(call for path in paths for call in path))
    return paths


def _layers_inside(plan: FunctionPlan, planned: PlannedStep) -> list[Any]:
    """Return the sublayers whose calls contain an op, the outermost first."""
    node = _node_of(plan, planned) if planned.group is None else planned.group.node
    if node is None:
        return []
    scope = planned.step.apply.scope.name
    if planned.phase == "backward":
        scope = scope.partition("/")[2]
    layer = node.outbound_layer
    if not scope.startswith(f"{layer.name}/"):
        return []
    found = []
    for name in scope.removeprefix(f"{layer.name}/").split("/"):
        inner = next((x for x in layer._sublayers if x.name == name), None)
        if inner is not None:
            found.append(inner)
            layer = inner
    return found


def _node_of(plan: FunctionPlan, planned: PlannedStep) -> Node | None:
    """Return the Node that a backward op outside all `Group`s belongs to.

    Return None for a forward op, and for an op that belongs to no Node.
    """
    swept = plan._swept.get(planned.step.apply)
    place = None if plan.facts is None or swept is None else plan.facts.calls.get(swept)
    return None if place is None else place.node


def _find_ends(plan: FunctionPlan, calls: dict[InnerCall, None]) -> None:
    """Find the inputs of each `InnerCall`, and its output: the slot that later forward ops read."""
    moving = set(range(len(plan.function.schedule.inputs)))
    moving.update(slot for planned in plan.steps for slot in planned.step.outputs)
    readers: dict[int, list[int]] = {}
    for place, planned in enumerate(plan.steps):
        if planned.phase not in ("backward", "update"):
            for slot in planned.step.inputs:
                readers.setdefault(slot, []).append(place)
    for y in plan.function.outputs:
        if y in plan.slots:
            readers.setdefault(plan.slots[y], []).append(len(plan.steps))
    for call in calls:
        own = plan.steps[call.first : call.last + 1]
        made = [slot for planned in own for slot in planned.step.outputs]
        read = [slot for slot in made if max(readers.get(slot, [0])) > call.last]
        needed = dict.fromkeys(slot for planned in own for slot in planned.step.inputs)
        call.inputs = [slot for slot in needed if slot in moving and slot not in made]
        if len(read) == 1 and own[0].phase == "forward":
            call.slot = read[0]


# --- the slot of a name ---------------------------------------------------------------------------


def slots_by_name(plan: FunctionPlan) -> dict[str, int]:
    """Return the slots of a function by every name that a user may type.

    These are the names of ops, as on the tape, of inputs and variables, the keys of `tensor_map`,
    and `grads[dense_1/kernel]`, `updates[dense_1/kernel]` or `total_loss`.
    """
    slots: dict[str, int] = {}
    for planned in plan.steps:
        for name, key, position in planned.brings:
            full_name = name if key is None else f"{name}[{key}]"
            slots.setdefault(full_name, planned.step.outputs[position])
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


def slot_of(plan: FunctionPlan, name: str, event: Event) -> int:
    """Return the slot that a name refers to at an event.

    Raises
    ------
    ArgumentError
        No slot has this name.
    """
    slots = slots_by_name(plan)
    wanted = re.sub(r"\[\s*(['\"])(.*)\1\s*\]$", r"[\2]", name.strip())
    if wanted in OF_THE_OUTPUT:
        if event.ph != END or event.kind not in ("op", "node") or event.name not in slots:
            raise ArgumentError(
                f"set: nothing has been computed at t={event.t}. Go to the end of an op or a node "
                "(r), or name a tensor."
            )
        wanted = event.name
        if event.kind == "op":
            own = {planned.name: planned.step.outputs[0] for planned in plan.steps}
            return own[wanted]
    own_slot = slots_in_update(plan, event).get(wanted)
    if own_slot is not None:
        return own_slot
    if wanted not in slots:
        raise ArgumentError(
            f"set: {plan.function.name} has no tensor {name!r}. {did_you_mean(wanted, slots)}"
            "Use out, the name of a tensor or a weight, or a layer for its output."
        )
    return slots[wanted]


def slots_in_update(plan: FunctionPlan, event: Event) -> dict[str, int | None]:
    """Return the slots of `p`, `g`, `new_p`, `m` and `v` while a parameter is being updated.

    These are the local names in the optimizer's source. At all other events, return {}.
    """
    groups = [
        planned.group
        for planned in plan.steps
        if planned.group is not None
        and planned.group.variable is not None
        and event.name == (planned.name if event.kind == "op" else planned.group.name)
    ]
    if not groups or event.kind not in ("op", "update.param"):
        return {}
    group, slots = groups[0], slots_by_name(plan)
    variables = [("p", group.variable), *group.slots]
    found = {name: plan.slots.get(v) for name, v in variables if v is not None}
    found["g"] = slots.get(f"grads[{group.name}]")
    return {**found, "new_p": slots.get(f"updates[{group.name}]")}


def tensor_of(plan: FunctionPlan, slot: int) -> Tensor:
    """Return the tensor whose array is in a slot."""
    return next(tensor for tensor, own in plan.slots.items() if own == slot)


def name_of(plan: FunctionPlan, slot: int) -> str:
    """Return the name that the tape uses for the tensor of a slot."""
    own = {s: planned.name for planned in plan.steps for s in planned.step.outputs}
    return own.get(slot) or tensor_of(plan, slot).name


def fitted(value: Any, tensor: Tensor, current: Any) -> np.ndarray:
    """Convert a value to an array with a tensor's dtype and the shape of its current array.

    Raises
    ------
    ArgumentError
        The value cannot be converted to this dtype, or broadcast to this shape.
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
            f"set: expected {tensor.name}, {tensor.dtype} of shape {np.shape(current)}, got {got}."
        ) from None

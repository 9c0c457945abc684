"""The calls of layers inside the call of another one: of a nested model's, or a wrapper's.

The graph of the model has one Node for all of them. The scopes of the ops say which layer's they
are: `td/inner/deep/dot` is an op of "deep" in "inner" in "td". Ops that follow each other and are
of the same layer make one call; so two calls of a layer that follow each other cannot be told
apart.
"""

from __future__ import annotations

from typing import Any

from kerascope.engine.node import Node
from kerascope.trace.recorder_plan import Plan, PlannedStep


class InnerCall:
    """One call of a layer inside.

    Attributes
    ----------
    layer : Layer
    first, last : int
        Places of its ops in the schedule.
    inputs : list of int
        Slots of what it reads and the program has computed, or was fed, before.
    slot : int or None
        Of what comes out of it, if that is one tensor and the call runs forward.
    """

    def __init__(self, layer: Any, first: int) -> None:
        self.layer = layer
        self.first = self.last = first
        self.inputs: list[int] = []
        self.slot: int | None = None


Path = tuple[InnerCall, ...]
NO_CALLS: Path = ()


def inner_calls(plan: Plan) -> list[Path]:
    """Return for each op the calls inside its node to which it belongs, the outermost first."""
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


def _layers_inside(plan: Plan, planned: PlannedStep) -> list[Any]:
    """Return the layers, each held by the one before, in whose calls an op was made."""
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


def _node_of(plan: Plan, planned: PlannedStep) -> Node | None:
    """Return the node of an op that lies apart from the others of its node; backward only.

    Forward all calls lie in the depths of the network, and this one could not.
    """
    swept = plan._swept.get(planned.step.apply)
    place = None if plan.facts is None or swept is None else plan.facts.calls.get(swept)
    return None if place is None else place.node


def _find_ends(plan: Plan, calls: dict[InnerCall, None]) -> None:
    """Find what goes into each call, and what comes out: that which forward ops behind it read."""
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

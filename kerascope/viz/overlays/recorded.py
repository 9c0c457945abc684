"""Pictures of a recorded run: the values on a tape, shown in the boxes of the model's graph.

The run is the first training step on the tape or, if nothing was trained, the first call of a
model. Nothing is recomputed: the numbers come from the tape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.tape_store import Tape
from kerascope.viz.graph import Graph
from kerascope.viz.overlays.marking import known_ids
from kerascope.viz.overlays.step_figures import StepNumbers, with_numbers
from kerascope.viz.overlays.values import at_step, with_values


class RecordedRun(NamedTuple):
    """The events on a tape that belong to one run of a model."""

    events: Sequence[Event]

    @property
    def is_training(self) -> bool:
        """Whether the run is a training step, which updates weights."""
        return any(event.kind == "commit" for event in self.events)


def recorded_run(tape: Tape, where: str) -> tuple[Network, RecordedRun]:
    """Return the model recorded on a tape, and the run to show in a picture.

    Raises
    ------
    ArgumentError
        The tape has no run, or the model no longer exists.
    """
    events = [tape[t] for t in range(len(tape))]
    run = RecordedRun(run_of(events))
    model = model_on_tape(tape, events) if events else None
    if model is None or not run.events:
        raise ArgumentError(
            f"{where}: the tape has no run of a model that still exists. Call fit, train_on_batch "
            f"or predict inside `with ks.trace(model) as tape:`, and keep the model until its "
            f"tape is drawn."
        )
    return model, run


def with_run(graph: Graph, run: RecordedRun, at: int | None = None) -> Graph:
    """Return the graph of a model with the values that a run computed.

    Parameters
    ----------
    graph : Graph
        The model's graph at level "node", "gradient" or "training".
    run : RecordedRun
    at : int, optional
        Show only the forward pass up to the call with this index. Negative indices count from the
        end. By default, show the whole run.
    """
    values = values_of_run(run, graph)
    if at is not None:
        return at_step(graph, values, at)
    graph = with_values(graph, values)
    numbers = numbers_of(run.events, graph) if graph.attrs.get("ladder") else None
    return graph if numbers is None else with_numbers(graph, numbers)


def values_of_run(run: RecordedRun, graph: Graph) -> dict[str, Any]:
    """Return the recorded outputs of each call, by the ids of boxes, in the order of the run.

    Outputs are left out if only their statistics were recorded.
    """
    known = known_ids(graph)
    found: dict[str, dict[str, Any]] = {}
    for event in run.events:
        for delta in event.deltas:
            if delta.name != "tensor_map":
                continue
            given = {delta.key: delta.value} if delta.key is not None else delta.value
            for key, value in given.items() if isinstance(given, dict) else ():
                array = value[0] if isinstance(value, tuple) and value else value
                box = next((x for x in (key, str(key).rpartition(":")[0]) if x in known), None)
                if box is not None and isinstance(array, (np.ndarray, np.generic)):
                    found.setdefault(box, {})[str(key)] = np.asarray(array)
    return {box: [*arrays.values()] for box, arrays in found.items()}


# --- the contents of a tape -----------------------------------------------------------------------


def model_on_tape(tape: Tape, events: list[Event]) -> Network | None:
    """Return the outermost model that ran the given events; None if the model no longer exists."""
    spans = tape.spans_at(events[0].t)
    for name in ("model", "network"):
        found = [event for event in (*spans, *events) if name in {d.name for d in event.deltas}]
        for event in sorted(found, key=lambda one: (one.depth, -one.t)):
            model = tape.live(next(d.value for d in event.deltas if d.name == name))
            if isinstance(model, Network) and model.outputs:
                return model
    return None


def run_of(events: Sequence[Event]) -> Sequence[Event]:
    """Return the events of the first training step; without one, of the first function call."""
    found: Sequence[Event] = ()
    for first, event in enumerate(events):
        if not begins_run(event):
            continue
        if found and event.name != "train_function":
            continue
        last = next(
            (place for place in range(first + 1, len(events))
             if events[place].ph == END and events[place].depth == event.depth),
            len(events) - 1,
        )  # fmt: skip
        found = events[first : last + 1]
        if event.name == "train_function":
            break
    return found


def begins_run(event: Event) -> bool:
    """Return whether an event begins the call of a function, and not its creation."""
    is_function = event.kind == "function" and event.ph == BEGIN
    return is_function and any(delta.name == "inputs" for delta in event.deltas)


def numbers_of(run: Sequence[Event], graph: Graph) -> StepNumbers | None:
    """Return the numbers of a training step by the ids of a ladder's boxes; None for other runs."""
    gradient_of = {wrt_of(node.attrs): node.id for node in graph.nodes if is_gradient(node.attrs)}
    known = {node.id for node in graph.nodes}
    loss: Any = None
    gradients: dict[str, Any] = {}
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for event in run:
        for delta in event.deltas:
            if delta.name == "total_loss" and delta.value is not None:
                loss = delta.value
            elif delta.name == "grads" and delta.key in gradient_of and event.phase == "backward":
                gradients[gradient_of[delta.key]] = delta.value
        if event.kind == "update.apply":
            old, new = value_of_event(event, "old"), value_of_event(event, "new")
            if new is None:
                new = next((d.value for d in event.deltas if d.key == event.name), None)
            box = event.name if event.name in known else f"slot:{event.name}"
            if box in known and old is not None and new is not None:
                before[box], after[box] = old, new
    return None if loss is None else StepNumbers(float(loss), gradients, before, after)


def wrt_of(attrs: Mapping[str, Any]) -> str:
    """Return the id of the call or weight whose gradient a box shows."""
    return str(attrs.get("line") or attrs.get("beside", ""))


def is_gradient(attrs: Mapping[str, Any]) -> bool:
    """Return whether a box of a ladder shows the gradient of a call or a weight."""
    return attrs.get("rail") == "backward" or attrs.get("column") == "gradient"

"""A training step as a ladder: forward down the left, backward up the right, cards between.

The picture is the same as in `draw(model, level="training")`, with places for values on the arrows
of both rails and in the cells of cards. The phase of an event determines its box: the gradient of a
call's output in the backward pass, the new value of a weight in the update, and the weight itself
in the commit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kerascope.engine.node_ids import calls_in
from kerascope.errors import KerascopeError
from kerascope.player.flows import CHANGE, FORWARD, GRADIENT, RUNNING, Flows, spec_of
from kerascope.player.picture import DONE, STATE_ROOM, BoxStates, Picture, svg_with_states
from kerascope.trace.events import BEGIN, END, Delta, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.tape_store import Tape
from kerascope.viz.boxes import PictureOptions, disambiguated
from kerascope.viz.collapse.collapsed import bundled
from kerascope.viz.collapse.view import view_of
from kerascope.viz.exports.to_html import ReservedSpace
from kerascope.viz.exports.to_svg import graph_sheet
from kerascope.viz.extract.subjects import graph_of, model_with_graph
from kerascope.viz.graph import GraphEdge, GraphNode
from kerascope.viz.layout.arrange import Placed
from kerascope.viz.layout.ladder import arrange_ladder, is_ladder
from kerascope.viz.layout.measures import LINE_SIZE, Measure, text_width
from kerascope.viz.sheet import Group, Label, Mark, Sheet

MOST_OPEN = 240  # boxes; in a larger ladder nested models are closed, then cards, then blocks
VALUE_WIDTH = 64.0  # width of the place for a value in a cell
# A text that reserves this place, and is removed again.
HELD = "\N{FULL BLOCK}" * round(VALUE_WIDTH / text_width("\N{FULL BLOCK}", LINE_SIZE))
BETWEEN_ROWS, BESIDE = 46.0, 40.0  # padding for the values on the arrows of the rails
_SLOT = "slot:"
_GRADIENT = "grad:"
_NEW = "update:"


def _is_mark(node: GraphNode) -> bool:
    """Return whether a box is only the symbol of an update, inside the cell of a slot."""
    return node.kind == "update" and node.attrs.get("column", "new") != "new"


def _with_room(node: GraphNode) -> GraphNode:
    """Return a box with space for its state. A cell of a card gets space for its value."""
    if "line" not in node.attrs:
        return replace(node, attrs={**node.attrs, **STATE_ROOM})
    attrs = {key: value for key, value in node.attrs.items() if key != "output_shapes"}
    return replace(node, attrs={**attrs, "detail": HELD})


class LadderPicture(Picture):
    """The ladder of a training step, with reserved space for values on arrows and cards."""

    room = ReservedSpace(
        _with_room, left_out=HELD, between_rows=BETWEEN_ROWS, beside=BESIDE, value_width=VALUE_WIDTH
    )

    @property
    def options(self) -> PictureOptions:
        """The options with which the ladder is drawn."""
        return PictureOptions(theme="light")

    @property
    def svg(self) -> str:
        """The picture as SVG, without the texts that only reserve space for values."""
        return svg_with_states(self.drawn()[0])

    def drawn(self, has_states: bool = True) -> tuple[Sheet, Placed, dict[str, Measure]]:
        """Return the sheet of the ladder with empty places for values, its layout, and its sizes.

        Boxes have a place for their state, unless `has_states` is False.
        """
        nodes = [
            _with_room(node) if has_states or "line" in node.attrs else node
            for node in self.graph.nodes
        ]
        graph = replace(self.graph, nodes=tuple(nodes))
        placed, measures = arrange_ladder(graph, self.options, BETWEEN_ROWS)
        placed = replace(placed, width=placed.width + BESIDE)
        sheet = graph_sheet(graph, self.options, placed, measures)
        return replace(sheet, marks=tuple(map(_without_held, sheet.marks))), placed, measures


def _without_held(mark: Mark) -> Mark:
    """Return a picture element without `HELD`, a text that only reserves space for a value."""
    if not isinstance(mark, Group):
        return mark
    marks = [one for one in mark.marks if not (isinstance(one, Label) and one.text == HELD)]
    label, tooltip = (re.sub(f"(, )?{HELD}", "", one or "") for one in (mark.label, mark.tooltip))
    return replace(
        mark,
        marks=tuple(map(_without_held, marks)),
        label=None if mark.label is None else label,
        tooltip=tooltip,
    )


def ladder_of(model: Any, events: list[Event]) -> LadderPicture | None:
    """Return the ladder of a training step, or None if the events contain no training step."""
    is_step = any(event.kind == "commit" and event.act == "function" for event in events)
    if not is_step or getattr(model, "optimizer", None) is None:
        return None
    try:
        whole = bundled(disambiguated(graph_of(model, "training", True, "Player")))
    except KerascopeError:
        return None
    if not is_ladder(whole):
        return None
    names = {call.node.name: call.id for call in calls_in(model_with_graph(model, "Player"))}
    is_small = len(whole.nodes) <= MOST_OPEN  # then nested models are open
    view = view_of(whole, "all" if is_small else None, most=MOST_OPEN)
    return LadderPicture(view.whole, names, {}, view.closed)


# --- how far each box is --------------------------------------------------------------------------


class LadderStates(BoxStates):
    """The states of the boxes of a ladder. `feed` updates them with the next event."""

    spans = (*BoxStates.spans, "update.param")
    instants = (*BoxStates.instants, "update.apply")

    def __init__(self, picture: Picture, made: Mapping[int, str] | None = None) -> None:
        super().__init__(picture.whole, picture.boxes_of_nodes, made)
        self._arrived: list[str] = []  # gradients computed by the current call of the backward pass
        self._senders: dict[str, list[str]] = {}
        self._parts: dict[str, list[str]] = {}  # contributions to a gradient, by its box
        self._cells = {node.id for node in picture.whole.nodes if "line" in node.attrs}
        for node in picture.whole.nodes:
            if "via" in node.attrs or node.attrs.get("column") == "via":
                self._senders.setdefault(_sender(node), []).append(node.id)
                self._parts.setdefault(node.id.rpartition("#")[0], []).append(node.id)

    def feed(self, event: Event) -> None:
        """Update the states of the boxes with the next event."""
        is_call_back = event.kind == "node" and event.phase == "backward"
        if is_call_back and event.ph == BEGIN:
            self._arrived = []
        call = "/".join(self._calls)  # including the enclosing nested models
        super().feed(event)
        for delta in event.deltas:
            name = _box_of_delta(event, delta, self.now)
            box = self._drawn(name)
            if box:
                self.now[box], self.focus = DONE, box
                self._mark_done(f"{_NEW}{name.removeprefix(_SLOT)}")
                if delta.name == "grads":
                    self._arrived.append(box)
                for part in self._parts.get(box, ()):  # of a finished sum
                    self._mark_done(part)
        if is_call_back and event.ph == END:
            for box in self._senders.get(call, ()):
                self.now[box] = DONE
            cells = [box for box in self._arrived if box in self._cells]
            self.focus = next(iter([*cells, *self._arrived[-1:]]), self.focus)

    @property
    def arrows(self) -> list[GraphEdge]:
        """The arrows between calls of the forward pass."""
        calls = {n.id for n in self.graph.nodes if n.attrs.get("rail") == "forward"}
        return [e for e in self.graph.edges if e.source in calls and e.target in calls]

    def _state_after(self, event: Event) -> int:
        return DONE  # gradients have separate boxes

    def _start_anew(self, event: Event) -> None:
        super()._start_anew(event)
        for node in self.graph.nodes:
            is_target = node.attrs.get("rail") == "loss" and node.kind != "loss"
            if event.kind == "function" and (node.kind in ("slot", "input") or is_target):
                self.now[node.id] = DONE

    def _box_of(self, event: Event) -> str:
        name, phase = event.name, event.phase
        if event.act != "function" or phase not in RUNNING:
            return super()._box_of(event)
        if event.kind == "op":
            return self._drawn(name) if phase == "loss" else ""
        if event.kind == "update.param":
            return self._drawn(f"{_NEW}{name}")
        if event.kind == "update.apply":
            slot = f"{_SLOT}{name}"  # not the box of its weight
            return slot if slot in self.now else self._drawn(name)
        if event.kind != "node":
            return ""
        path = "/".join([*self._calls, name])
        if phase == "backward":
            return self._drawn(f"{_GRADIENT}{path}") or self._drawn(name)
        return self._drawn(path)

    def _drawn(self, name: str) -> str:
        """Return the drawn box of a call: "encoder" for "encoder/dense" if "encoder" is closed."""
        while name:
            if name in self.now:
                return name
            prefix = _GRADIENT if name.startswith(_GRADIENT) else ""
            inner = name.removeprefix(prefix)
            name = f"{prefix}{inner.rpartition('/')[0]}" if "/" in inner else ""
        return ""


def _sender(node: GraphNode) -> str:
    """Return the name of the call that sends a contribution, from the contribution's box."""
    return node.label.rpartition("(from ")[2].removesuffix(")")


def _box_of_delta(event: Event, delta: Delta, boxes: Mapping[str, Any]) -> str:
    """Return the id of the box whose value a delta of an event changes; "" without a box."""
    key = str(delta.key) if delta.key is not None else ""
    if not key or event.act in ("build", "compile"):
        return ""
    if delta.name == "grads" and event.phase == "backward":
        return f"{_GRADIENT}{key}"
    if delta.name == "updates" and event.phase == "update":
        slot = f"{_SLOT}{key}"
        return slot if slot in boxes else f"{_NEW}{key}"
    return ""


# --- the values -----------------------------------------------------------------------------------


class LadderFlows(Flows):
    """The values on the arrows of the rails and in the cells of cards.

    Parameters
    ----------
    picture : Picture
    tape : Tape
    """

    def __init__(self, picture: Picture, tape: Tape) -> None:
        shown = [node.id for node in picture.whole.nodes if not _is_mark(node)]
        super().__init__({*shown, *(group.id for group in picture.whole.groups)})
        self._cells = {node.id for node in picture.whole.nodes if "line" in node.attrs}
        self._tape = tape
        self._weights: dict[str, Any] = {}  # at the start of the step

    def feed(self, event: Event) -> None:
        """Update the values on arrows and cards with the next event."""
        super().feed(event)
        if event.kind == "function" and event.ph == BEGIN:
            self._begin(event)
        for delta in event.deltas:
            key = str(delta.key) if delta.key is not None else ""
            if delta.name == "updates" and key and event.phase == "update":
                self._put(f"{_NEW}{key}", FORWARD, delta.value)
                self._show_change(key, delta.value)
                self._put(f"{_SLOT}{key}", FORWARD, delta.value)
            elif event.kind == "update.apply" and delta.name == "weights" and key == event.name:
                self._put(key, FORWARD, delta.value)

    def _show_change(self, key: str, new: Any) -> None:
        """Show a weight's change in place of its new value, if only norms or images are shown."""
        place, old = (self.box_of(f"{_NEW}{key}"), FORWARD), self._weights.get(key)
        is_large = self.now.get(place, ["", ""])[1] in ("b", "i")
        if is_large and isinstance(old, np.ndarray):
            self.now[place] = [*spec_of(np.asarray(new) - old, "weight"), CHANGE]

    def _begin(self, event: Event) -> None:
        """Show the values of the inputs and the weights when a step begins."""
        weights = self._tape.names_at(event.t).get("weights", {})
        self._weights = weights if isinstance(weights, dict) else {}
        for name, value in self._weights.items():
            self._put(str(name), FORWARD, value)
            self._put(f"{_SLOT}{name}", FORWARD, value)
        fed = value_of_event(event, "inputs") or ()
        for name, value in zip(value_of_event(event, "feed_names") or (), fed, strict=False):
            self._put(str(name), FORWARD, value, is_input=True)

    def _put(self, key: str, way: int, value: Any, *, is_input: bool = False) -> None:
        key = f"{_GRADIENT}{key}" if way == GRADIENT else key
        super()._put(key, way, value, is_input=is_input)

    def _kind_of(self, box: str, is_input: bool) -> str:
        return "weight" if box in self._cells else super()._kind_of(box, is_input)

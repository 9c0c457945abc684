"""A step of training on the ladder: forward down the left, backward up the right, cards between.

The picture is that of `draw(model, level="training")`, with room for values: on the arrows of both
rails, and in each cell of a card. Which box an event means depends on its phase: in the backward
pass the gradient of what a call gave, in the update the new value of a weight, in the commit the
weight that is written. What lies in a closed frame or on a closed card is told by its box.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kerascope.engine.node_ids import calls_in
from kerascope.errors import KerascopeError
from kerascope.player.flows import FORWARD, GRADIENT, RUNNING, Flows
from kerascope.player.picture import DONE, NOW, STATE_ROOM, BoxStates, Picture, with_state_lines
from kerascope.trace.events import BEGIN, END, Delta, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.tape_store import Tape
from kerascope.viz.boxes import PictureOptions, named_apart
from kerascope.viz.collapse.collapsed import bundled
from kerascope.viz.collapse.view import view_of
from kerascope.viz.exports.to_svg import svg_of
from kerascope.viz.extract.subjects import graph_of, model_with_graph
from kerascope.viz.graph import GraphEdge, GraphNode
from kerascope.viz.layout.arrange import Rect
from kerascope.viz.layout.ladder import CELL_PADDING, MARK_WIDTH, arrange_ladder, is_ladder
from kerascope.viz.layout.measures import LINE_SIZE, text_width
from kerascope.viz.nesting import hiding_of

MOST_OPEN = 240  # boxes; of a larger ladder first the cards are closed, then repeated blocks
VALUE_WIDTH = 64.0  # of the place for a value in a cell
# What keeps that place: a text that is taken out again.
HELD = "\N{FULL BLOCK}" * round(VALUE_WIDTH / text_width("\N{FULL BLOCK}", LINE_SIZE))
BETWEEN_ROWS, BESIDE = 46.0, 40.0  # room for what lies on the arrows of the rails
_SLOT = "slot:"
_GRADIENT = "grad:"
_NEW = "update:"


class LadderPicture(Picture):
    """The ladder of a step, with room for values."""

    @property
    def svg(self) -> str:
        """The picture; what keeps the places of values is taken out."""
        graph, options, placed, measures = self._laid_out()
        svg = with_state_lines(svg_of(graph, options, placed, measures))
        svg = re.sub(rf'<text class="quiet"[^>]*>{HELD}</text>\n?', "", svg)
        return re.sub(f"(, )?{HELD}", "", svg)  # in what is read aloud

    @property
    def areas(self) -> dict[str, tuple[Rect, str]]:
        """Where the value of each cell stands, and in which column, by its box."""
        graph, _, placed, _ = self._laid_out()
        return {
            node.id: (_area(node, placed.boxes[node.id]), str(node.attrs["column"]))
            for node in graph.nodes
            if "line" in node.attrs and not _is_mark(node)
        }

    def _laid_out(self) -> Any:
        options = PictureOptions()
        nodes = tuple(_with_room(node) for node in self.graph.nodes)
        graph = replace(self.graph, nodes=nodes)
        placed, measures = arrange_ladder(graph, options, BETWEEN_ROWS)
        return graph, options, replace(placed, width=placed.width + BESIDE), measures


def _is_mark(node: GraphNode) -> bool:
    """Tell whether a cell is no more than the mark in the cell of a slot."""
    return node.kind == "update" and node.attrs.get("column", "new") != "new"


def _with_room(node: GraphNode) -> GraphNode:
    """Return a box with room for its state, or, in a card, for its value."""
    if "line" not in node.attrs:
        return replace(node, attrs={**node.attrs, **STATE_ROOM})
    attrs = {key: value for key, value in node.attrs.items() if key != "output_shapes"}
    return replace(node, attrs={**attrs, "detail": HELD})


def _area(node: GraphNode, rect: Rect) -> Rect:
    right = rect.right - CELL_PADDING - (MARK_WIDTH if node.kind in ("variable", "slot") else 0.0)
    return Rect(right - VALUE_WIDTH, rect.y + 2, VALUE_WIDTH, rect.height - 4)


def ladder_of(model: Any, events: list[Event]) -> LadderPicture | None:
    """Return the picture of a model's step; None where none is trained, or has no ladder."""
    is_step = any(event.kind == "commit" and event.act == "function" for event in events)
    if not is_step or getattr(model, "optimizer", None) is None:
        return None
    try:
        whole = bundled(named_apart(graph_of(model, "training", where="Player")))
    except KerascopeError:
        return None
    if not is_ladder(whole):
        return None
    names = {call.node.name: call.id for call in calls_in(model_with_graph(model, "Player"))}
    view = view_of(whole, most=MOST_OPEN)
    hiding = hiding_of(view.whole, view.closed)
    alias = {node.id: hiding[node.group] for node in view.whole.nodes if hiding[node.group]}
    names = {name: alias.get(box, box) for name, box in names.items()}
    return LadderPicture(view.shown, names, {}, alias)


# --- how far each box is --------------------------------------------------------------------------


class LadderStates(BoxStates):
    """The states of the boxes of a ladder; `feed` moves on by one event."""

    spans = (*BoxStates.spans, "update.param")
    instants = (*BoxStates.instants, "update.apply")

    def __init__(self, picture: Picture, made: Mapping[int, str] | None = None) -> None:
        super().__init__(picture.graph, picture.boxes_of_nodes, made, None, picture.alias)
        self._arrived: list[str] = []  # gradients that the call gave through which the sweep goes
        self._senders: dict[str, list[str]] = {}
        for node in picture.graph.nodes:
            if "via" in node.attrs or node.attrs.get("column") == "via":
                self._senders.setdefault(_sender(node), []).append(node.id)
        closed = dict.fromkeys(picture.alias.values())
        self._frames = [one for one in closed if "rail" in self._attrs(one)]
        self._left: dict[str, set[str]] = {}  # what a closed frame of a rail still has to do

    def feed(self, event: Event) -> None:
        """Move on to the states at one more event."""
        is_call_back = event.kind == "node" and event.phase == "backward"
        if is_call_back and event.ph == BEGIN:
            self._arrived = []
        super().feed(event)
        for delta in event.deltas:
            name = _box_of_delta(event, delta, self.now, self._alias)
            box = self._drawn(name)
            if box:
                self.now[box], self.focus = self._done(name), box
                self._mark_done(f"{_NEW}{name.removeprefix(_SLOT)}")
                if delta.name == "grads":
                    self._arrived.append(box)
        if is_call_back and event.ph == END:
            for box in self._senders.get(event.name, ()):
                self.now[box] = DONE
            cells = [box for box in self._arrived if "line" in self._attrs(box)]
            self.focus = next(iter([*cells, *self._arrived[-1:]]), self.focus)
        if event.ph == END and event.kind in ("forward", "backward"):
            for box in self._frames:
                self.now[box] = DONE if self.now[box] == NOW else self.now[box]

    @property
    def arrows(self) -> list[GraphEdge]:
        """Those of the forward pass from call to call."""
        calls = {n.id for n in self.graph.nodes if n.attrs.get("rail") == "forward"}
        return [e for e in self.graph.edges if e.source in calls and e.target in calls]

    def _attrs(self, box: str) -> Mapping[str, Any]:
        return self.graph.node(box).attrs

    def _done(self, name: str) -> int:
        """Return how far a box is when what is in it by a name is done: a frame by its last."""
        left = self._left.get(self._alias.get(name, ""), set())
        left.discard(name)
        return NOW if left else DONE

    def _state_after(self, event: Event) -> int:
        prefix = _GRADIENT if event.phase == "backward" else ""
        return self._done(prefix + "/".join([*self._calls, event.name]))

    def _start_anew(self, event: Event) -> None:
        super()._start_anew(event)
        self._left = {frame: set() for frame in self._frames}
        for name, frame in self._alias.items():
            self._left.get(frame, set()).add(name)
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
            return self._drawn(name) or self._drawn(f"{_SLOT}{name}")
        if event.kind != "node":
            return ""
        if phase == "backward":
            return self._drawn(f"{_GRADIENT}{name}") or self._drawn(name)
        return self._drawn("/".join([*self._calls, name]))

    def _drawn(self, name: str) -> str:
        """Return the box of a name, or of what lies around it: "encoder" for "encoder/dense"."""
        while name:
            found = self._alias.get(name, name)
            if found in self.now:
                return found
            prefix = _GRADIENT if name.startswith(_GRADIENT) else ""
            inner = name.removeprefix(prefix)
            name = f"{prefix}{inner.rpartition('/')[0]}" if "/" in inner else ""
        return ""


def _sender(node: GraphNode) -> str:
    """Return the call that sends a contribution: its label says which."""
    return node.label.rpartition("(from ")[2].removesuffix(")")


def _box_of_delta(
    event: Event, delta: Delta, boxes: Mapping[str, Any], alias: Mapping[str, str]
) -> str:
    """Return the box of what a delta tells that has been computed; "" if it is none."""
    key = str(delta.key) if delta.key is not None else ""
    if not key or event.act in ("build", "compile"):
        return ""
    if delta.name == "grads" and event.phase == "backward":
        return f"{_GRADIENT}{key}"
    if delta.name == "updates" and event.phase == "update":
        slot = f"{_SLOT}{key}"
        return slot if slot in boxes or slot in alias else f"{_NEW}{key}"
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
        shown = (n for n in picture.graph.nodes if n.kind != "card" and not _is_mark(n))
        super().__init__({node.id: None for node in shown}, picture.alias)
        self._tape = tape

    def feed(self, event: Event) -> None:
        """Move on to the values at one more event."""
        super().feed(event)
        if event.kind == "function" and event.ph == BEGIN:
            self._begin(event)
        for delta in event.deltas:
            key = str(delta.key) if delta.key is not None else ""
            if delta.name == "updates" and key and event.phase == "update":
                self._put(f"{_NEW}{key}", FORWARD, delta.value)
                self._put(f"{_SLOT}{key}", FORWARD, delta.value)
            elif event.kind == "update.apply" and delta.name == "weights" and key == event.name:
                self._put(key, FORWARD, delta.value)

    def _begin(self, event: Event) -> None:
        """Put what is fed and what the weights are where they stand."""
        weights = self._tape.names_at(event.t).get("weights", {})
        for name, value in weights.items() if isinstance(weights, dict) else ():
            self._put(str(name), FORWARD, value)
            self._put(f"{_SLOT}{name}", FORWARD, value)
        fed = value_of_event(event, "inputs") or ()
        for name, value in zip(value_of_event(event, "feed_names") or (), fed, strict=False):
            self._put(str(name), FORWARD, value)

    def _put(self, key: str, way: int, value: Any) -> None:
        super()._put(f"{_GRADIENT}{key}" if way == GRADIENT else key, way, value)

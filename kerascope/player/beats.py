"""The beats of a moving picture: the groups of boxes that appear together, with a sentence each.

A beat is one call of the forward pass, the loss, one call of the backward pass, the new values of
one card, or the commit. All calls of a closed frame are one beat. If there are more than
`MOST_BEATS` beats, adjacent ones are merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kerascope.player.captions import Caption, Narrator, sources_of
from kerascope.player.flows import FORWARD, LOSS, Flows, Spec
from kerascope.player.sentences import SENTENCES
from kerascope.trace.events import BEGIN, END, Event
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.overlays.recorded import is_gradient, wrt_of

MOST_BEATS = 30
LANES = ("forward", "loss", "backward", "update", "commit")


class Beat(NamedTuple):
    """One step of a moving picture, with the boxes that appear and its sentence.

    Attributes
    ----------
    lane : str
        One of `LANES`, such as "forward" or "update".
    boxes : tuple of str
        Ids of the boxes that appear. The caption describes the first box.
    caption : list of str
        Key of a template in `SENTENCES`, and the words for its placeholders.
    calls : int
        Number of calls or cards in the beat.
    also : tuple of str
        Names of the other weights on the same card, whose boxes appear at this beat.
    is_thinned : bool
        Whether several calls were merged because there were too many beats.
    """

    lane: str
    boxes: tuple[str, ...]
    caption: Caption
    calls: int = 1
    also: tuple[str, ...] = ()
    is_thinned: bool = False


@dataclass
class Step:
    """The beats of one run of a model.

    Attributes
    ----------
    beats : list of Beat
    closing : dict of str to list of str
        The caption that is shown at the end of each lane.
    flows : dict of (str, int) to list
        The value on each box's arrows, forward and backward; see `flows.spec_of`.
    """

    beats: list[Beat] = field(default_factory=list)
    closing: dict[str, Caption] = field(default_factory=dict)
    flows: dict[tuple[str, int], Spec] = field(default_factory=dict)


def is_call(node: GraphNode) -> bool:
    """Return whether a box is a call of a layer, or a closed frame of calls."""
    is_on_card = "line" in node.attrs or node.kind == "card"
    return not is_on_card and node.attrs.get("rail", "forward") == "forward" and node.kind != LOSS


# --- beats ----------------------------------------------------------------------------------------


class StepTimeline:
    """Makes the beats of a run. Call `step` for the result.

    Parameters
    ----------
    whole : Graph
        The picture with all frames open.
    shown : Graph
        The picture that is drawn, with some frames closed.
    alias : mapping of str to str
        For a box that is not drawn: the closed frame that contains it.
    """

    def __init__(self, whole: Graph, shown: Graph, alias: Mapping[str, str]) -> None:
        self.whole = whole
        self.labels = {node.id: node.label for node in shown.nodes}
        self.alias = alias
        self.calls = {node.id for node in whole.nodes if is_call(node)}
        self.gradient_of = {
            wrt_of(node.attrs): node.id for node in whole.nodes if is_gradient(node.attrs)
        }
        self.weights = {
            str(node.attrs["line"])
            for node in whole.nodes
            if node.attrs.get("column") == "gradient"
        }
        self._found: dict[tuple[str, str], Beat] = {}
        self._told: set[str] = set()  # boxes with a beat
        self._arrived: dict[str, None] = {}  # gradients of weights computed since the last beat

    def step(self, before: Sequence[Event], run: Sequence[Event]) -> Step:
        """Return the beats of the events in `run`. Captions may refer to the events in `before`."""
        ends = [edge for edge in self.whole.edges if {edge.source, edge.target} <= self.calls]
        narrator = Narrator(sources_of(ends))
        flows = Flows({*self.calls, LOSS})
        for event in before:
            narrator.tell(event)
        step = Step()
        inside: list[str] = []  # the open calls
        for event in run:
            caption = narrator.tell(event)
            flows.feed(event)
            self._add_beats_of(event, caption, inside)
            if event.ph == END and event.kind in LANES:
                step.closing[event.kind] = caption
        step.beats = self._dealt()
        for (box, way), spec in flows.now.items():
            place = self.shown(box), way  # in a closed frame the last output and gradient
            step.flows[place] = spec if way == FORWARD else step.flows.get(place, spec)
        return step

    def shown(self, box: str) -> str:
        """Return the id of a box, or of the closed frame that is drawn in place of the box."""
        return self.alias.get(box, box)

    def _add_beats_of(self, event: Event, caption: Caption, inside: list[str]) -> None:
        if event.kind == "node" and event.ph == BEGIN:
            inside.append(event.name)
        for delta in event.deltas if event.phase == "backward" else ():
            if delta.name == "grads" and delta.key in self.weights:
                self._arrived[self.gradient_of[delta.key]] = None
        if event.kind == "function" and event.ph == BEGIN:
            self._add("forward", self._fed(), caption)
        elif event.ph != END:
            return
        elif event.kind == "node":
            call = "/".join(inside)
            inside.pop()
            if event.phase == "forward" and call in self.calls:
                self._add("forward", [call], caption)
            elif event.phase == "backward" and call in self.gradient_of:
                self._add("backward", [self.gradient_of[call], *self._arrived], caption)
                self._arrived.clear()
        elif event.kind == "backward" and self._arrived:
            self._add_to_last("backward", [*self._arrived])
        elif event.kind == "loss" and event.act != "compile":
            self._add("loss", [*self._of_rail("loss")], caption)
        elif event.kind == "update.param":
            self._add("update", self._new_on_card_of(event.name), caption)
        elif event.kind == "commit":
            kept = [n.id for n in self.whole.nodes if n.attrs.get("column") == "weight"]
            slots = [n.id for n in self.whole.nodes if n.kind == "slot"]
            self._add("commit", [*kept, *slots], caption)

    def _add(self, lane: str, boxes: Sequence[str], caption: Caption) -> None:
        """Add a beat, or merge it with an earlier beat of the same box."""
        shown = tuple(dict.fromkeys(filter(None, map(self.shown, boxes))))
        shown = tuple(box for box in shown if box in self.labels)
        if not shown:
            return
        before = self._found.pop((lane, shown[0]), None)
        calls = 1 if before is None else before.calls + 1
        if before is not None:
            shown = tuple(dict.fromkeys([*before.boxes, *shown]))
            label = self.labels[shown[0]].removeprefix("d loss / d ")
            if f"{lane}.folded" in SENTENCES:
                caption = [f"{lane}.folded", label, str(calls)]
        self._told.update(boxes)
        self._found[lane, shown[0]] = Beat(lane, shown, caption, calls)

    def _add_to_last(self, lane: str, boxes: Sequence[str]) -> None:
        key = next((key for key in reversed(self._found) if key[0] == lane), None)
        if key is not None:
            beat = self._found[key]
            more = [box for box in map(self.shown, boxes) if box in self.labels]
            self._found[key] = beat._replace(boxes=tuple(dict.fromkeys([*beat.boxes, *more])))

    def _fed(self) -> list[str]:
        """Return the ids of the input and target boxes, which exist before the forward pass."""
        targets = {edge.target for edge in self.whole.edges if edge.source in self.calls}
        on_rails = [n for n in self.whole.nodes if "line" not in n.attrs and n.kind != "loss"]
        fed = [n.id for n in on_rails if n.id in self.calls and n.id not in targets]
        return [*fed, *(n.id for n in on_rails if n.attrs.get("class_name") == "target")]

    def _of_rail(self, rail: str) -> list[str]:
        losses = [n for n in self.whole.nodes if n.attrs.get("rail") == rail or n.kind == "loss"]
        return [node.id for node in reversed(losses) if node.kind == "loss"]

    def _new_on_card_of(self, weight: str) -> list[str]:
        """Return the ids of the boxes for the new values of a weight and of its slots."""
        return [
            node.id
            for node in self.whole.nodes
            if node.kind == "update" and node.attrs.get("line") == weight
        ][::-1]

    # --- order and number of beats ----------------------------------------------------------------

    def _dealt(self) -> list[Beat]:
        """Return all beats in the order of the lanes, with the updates of each card as one beat.

        If there are more than `MOST_BEATS` beats, adjacent beats of a lane are merged.
        """
        cards = {node.id: node.group for node in self.whole.nodes if "line" in node.attrs}
        lanes = {lane: [b for b in self._found.values() if b.lane == lane] for lane in LANES}
        by_card: dict[str, list[Beat]] = {}
        for beat in lanes["update"]:
            by_card.setdefault(cards.get(beat.boxes[0], beat.boxes[0]), []).append(beat)
        for node in self.whole.nodes:  # updates made by a layer itself, such as moving averages
            if node.kind == "update" and node.id not in self._told:
                caption = ["update.unknown", str(node.attrs["line"])]
                own = Beat("update", (self.shown(node.id),), caption)
                by_card.setdefault(cards[node.id], []).append(own)
        lines = {node.id: str(node.attrs.get("line", "")) for node in self.whole.nodes}
        lanes["update"] = [
            _joined(own, own[0].caption)._replace(
                calls=1, also=tuple(lines.get(beat.boxes[0], "") for beat in own[1:])
            )
            for own in by_card.values()
        ]
        crowd = sum(len(lanes[lane]) for lane in ("forward", "backward", "update"))
        wide = -(-crowd // (MOST_BEATS - 2))
        return [beat for own in lanes.values() for beat in _thinned(own, wide)]


def _thinned(beats: Sequence[Beat], wide: int) -> list[Beat]:
    """Merge groups of `wide` adjacent beats. A merged beat has the caption of its last beat."""
    groups = [beats[first : first + wide] for first in range(0, len(beats), max(wide, 1))]
    return [
        _joined(own[::-1], own[-1].caption)._replace(is_thinned=True) if len(own) > 1 else own[0]
        for own in groups
    ]


def _joined(beats: Sequence[Beat], caption: Caption) -> Beat:
    boxes = tuple(dict.fromkeys(box for beat in beats for box in beat.boxes))
    return Beat(beats[0].lane, boxes, caption, sum(beat.calls for beat in beats))

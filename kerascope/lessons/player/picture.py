"""The picture of a player: an SVG made here, whose boxes the script marks as it goes.

Rows are depths. Each box keeps room for a line that says how far it is, `▶ now`, so that the state
is told by a sign, by words and by the frame, never by colour alone.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

from kerascope.debugger.tape_graph import graph_of_tape
from kerascope.engine.network import Network
from kerascope.engine.node_ids import calls_in
from kerascope.errors import ArgumentError, KerascopeError
from kerascope.lessons.player.states import DONE, FAILED, GRADIENT, NOW, TODO, layer_of
from kerascope.trace.events import Event
from kerascope.trace.tape_store import Tape
from kerascope.viz.boxes import PictureOptions, reading_order, tooltip
from kerascope.viz.drawing import Drawing
from kerascope.viz.exports.to_svg import number, to_svg
from kerascope.viz.extract.subjects import graph_of, model_with_graph
from kerascope.viz.graph import Graph
from kerascope.viz.theme import Palette

MOST_BOXES = 80
# How the frame of a box is drawn: its hue, its width, its dashes.
LOOKS = {
    TODO: ("grey", 1.0, "4 3"),
    NOW: ("orange", 4.0, "none"),
    DONE: ("green", 1.8, "none"),
    GRADIENT: ("blue", 2.4, "9 2"),
    FAILED: ("vermillion", 4.0, "2 2"),
}
WIDEST_WORDS = "gradient"  # what the line of a state keeps room for
MARK = re.compile(
    r'<text class="mark" x="(?P<x>[\d.]+)" (?P<y>y="[\d.]+") textLength="(?P<width>[\d.]+)" '
    r'lengthAdjust="spacingAndGlyphs">(?P<sign>\S) WORDS</text>'.replace("WORDS", WIDEST_WORDS)
)


class Picture(NamedTuple):
    """A graph, and which box each node of the engine is."""

    graph: Graph
    boxes_of_nodes: dict[str, str]

    @property
    def svg(self) -> str:
        """The picture, every box with room for its state."""
        nodes = tuple(
            replace(node, attrs={**node.attrs, "state": "pending", "note": WIDEST_WORDS})
            for node in self.graph.nodes
        )
        graph = replace(self.graph, nodes=nodes)
        has_depths = self.graph.attrs.get("level", "node") in ("node", "layer")
        svg = MARK.sub(_centred, to_svg(graph, PictureOptions(depth_ranks=has_depths)))
        return svg.replace("@media (prefers", "@media screen and (prefers").strip()

    @property
    def words(self) -> dict[str, str]:
        """Each box in words, by its id, in the order of reading."""
        return {node.id: tooltip(node) for node in reading_order(self.graph)}


def _centred(mark: re.Match[str]) -> str:
    """Return the line of a state without its words: its middle stays when others are written."""
    middle = float(mark["x"]) + float(mark["width"]) / 2
    return (
        f'<text class="mark state" x="{number(middle)}" {mark["y"]} text-anchor="middle">'
        f"{mark['sign']}</text>"
    )


def picture_for(tape: Tape, events: list[Event], graph: Any) -> Picture | None:
    """Return the picture of a tape: of what was asked for, else of the model that it tells of.

    Raises
    ------
    ArgumentError
        It has too many boxes.
    """
    if graph is False:
        return None
    made = _picture(tape, events, graph)
    if made is not None and len(made.graph.nodes) > MOST_BOXES:
        raise ArgumentError(
            f"Player: the picture has {len(made.graph.nodes)} boxes; at most {MOST_BOXES} can be "
            f"followed. Give graph=ks.draw(...) with fewer, or graph=False."
        )
    return made


def _picture(tape: Tape, events: list[Event], graph: Any) -> Picture | None:
    model = graph if isinstance(graph, Network) else living_model(tape, events)
    names: dict[str, str] = {}
    if model is not None:
        model = model_with_graph(model, "Player")
        names = {call.node.name: call.id for call in calls_in(model)}
    if graph is None and model is not None:
        graph = model
    if graph is not None:
        shown = graph.graph if isinstance(graph, Drawing) else graph_of(graph, where="Player")
        _check_names(shown)
        return Picture(shown, names)
    told = list(tape[: events[-1].t + 1])
    try:
        found = graph_of_tape(told)
    except KerascopeError:
        return None
    return Picture(found, _boxes_of_nodes(told, {node.id for node in found.nodes}))


def _check_names(graph: Graph) -> None:
    """Refuse a picture of ops that have names in common: events tell of ops by their names."""
    if graph.attrs.get("level") not in ("op", "gradient"):
        return
    for node in graph.nodes:
        if re.search(r"~\d+$|@\d+/", node.id):
            raise ArgumentError(
                f"Player: the picture has several ops like {node.id!r}, and the tape does not tell "
                "which is which. Name them apart, `with K.name_scope('first'):`; or draw the model "
                "with a box for each call."
            )


def _boxes_of_nodes(events: list[Event], boxes: set[str]) -> dict[str, str]:
    """Return the box of each node, by the node's name, in the graph that a tape tells."""
    created = [event.name for event in events if event.kind == "node.create"]
    visited = {event.name for event in events if event.kind == "map.visit"}
    calls: Counter[str] = Counter()
    found: dict[str, str] = {}
    for name in created:
        if not visited or name in visited:
            layer = layer_of(name)
            found[name] = layer if layer in boxes else f"{layer}@{calls[layer]}"
            calls[layer] += 1
    return found


def living_model(tape: Tape, events: list[Event]) -> Network | None:
    """Return the outermost model of which the last of these events speaks, if it still lives."""
    first = events[0].t
    spans = tape.spans_at(first)
    for name in ("model", "network"):
        told = [event for event in (*spans, *events) if name in {d.name for d in event.deltas}]
        for event in sorted(told, key=lambda one: (one.depth, -one.t)):
            model = tape.live(next(d.value for d in event.deltas if d.name == name))
            if isinstance(model, Network) and model.outputs:
                return model
    return None


# --- the style of the states ----------------------------------------------------------------------


def picture_rules() -> str:
    """Return how boxes look in their states; their colours are called `--state0` and so on."""
    return "".join(
        f".box[data-state='{state}'] .line{{stroke:var(--state{state})!important;"
        f"stroke-width:{width:g}!important;stroke-dasharray:{dashes}!important}}\n"
        for state, (_, width, dashes) in LOOKS.items()
    )


def state_colors(palette: Palette) -> dict[str, str]:
    """Return the colours of the frames of boxes, by the names that the style sheet has for them."""
    return {f"state{state}": palette.mark(hue) for state, (hue, *_) in LOOKS.items()}

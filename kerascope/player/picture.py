"""The picture of a player: a graph with all its frames, whose boxes show their state.

Boxes of one depth are in one row. Each box has a reserved line for its state, such as `▶ now`, so
that the state is shown by a mark, by words and by the outline, and not by colour alone. The script
of the page draws the picture. A page without a script shows the SVG that is made here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kerascope.debugger.pictures import graph_of_tape
from kerascope.engine.network import Network
from kerascope.engine.node_ids import calls_in, layer_of
from kerascope.errors import ArgumentError, KerascopeError
from kerascope.player.flows import LOSS
from kerascope.player.room import BESIDE, LEAST, roomy
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.tape_store import Tape
from kerascope.viz.boxes import PictureOptions, reading_order, tooltip
from kerascope.viz.collapse.collapsed import kind_of_group
from kerascope.viz.collapse.view import View, view_of
from kerascope.viz.drawing import Drawing
from kerascope.viz.exports.to_html import ReservedSpace
from kerascope.viz.exports.to_svg import graph_sheet
from kerascope.viz.extract.subjects import graph_of, model_with_graph
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.arrange import arrange
from kerascope.viz.overlays.recorded import model_on_tape
from kerascope.viz.sheet import Group, Label, Mark, Sheet
from kerascope.viz.theme import Palette
from kerascope.viz.writers.svg import svg_of_sheet

# --- the states of boxes: to do, now, done, gradient, failed ------------------------------------


TODO, NOW, DONE, GRADIENT, FAILED = range(5)
# Spans that restart the walk through the graph.
RUNS = (
    "build", "build_map", "depth_sort", "check_graph", "run_internal_graph", "gradients",
    "function",
)  # fmt: skip
CALLS = ("layer.call", "node")
SPANS = (*CALLS, "map.visit", "grad.node", "op", "loss")
INSTANTS = ("node.create", "map.depth", "depth.put", "tmap.set", "grad.op", "grad.accum")
SOURCES = ("placeholder", "variable", "constant")  # kinds of boxes that are done from the start
# The label of a box for one of several contributions to a gradient.
CONTRIBUTION = re.compile(r"contribution \d+ \(from (?P<consumer>.+)\)")


class BoxStates:
    """The states of the boxes of a graph. `feed` updates them with the next event.

    Parameters
    ----------
    graph : Graph
    boxes_of_nodes : mapping of str to str
        The box of a Node, by the name of the Node, such as "dense_1_ib-0".
    made_by_calls : mapping of int to str, optional
        The result of `nodes_made`.
    owners : mapping of str to str, optional
        The box of the call that owns a variable, by the variable's name.

    Attributes
    ----------
    now : dict of str to int
        The states of all boxes, followed by those of all frames, by id. Only the frame of a nested
        model has a state of its own. For other frames, a page shows the states of the boxes inside.
    focus : str
        The box of the last event, or of an earlier event if the last event has no box.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> states = BoxStates(Graph("one", (GraphNode("a", "a", "dense"),), ()), {})
    >>> facts = ("function", "forward", "node")
    >>> states.feed(Event(0, *facts, "B", 0, "node", "a"))
    >>> states.now["a"] == NOW
    True
    >>> states.feed(Event(1, *facts, "E", 0, "node", "a"))
    >>> states.now["a"] == DONE
    True
    """

    # Kinds of events that have a box.
    spans: tuple[str, ...] = SPANS
    instants: tuple[str, ...] = INSTANTS

    def __init__(
        self,
        graph: Graph,
        boxes_of_nodes: Mapping[str, str],
        made_by_calls: Mapping[int, str] | None = None,
        owners: Mapping[str, str] | None = None,
    ) -> None:
        self.graph = graph
        names = [*(node.id for node in graph.nodes), *(group.id for group in graph.groups)]
        self.now = dict.fromkeys(names, TODO)
        self._of_nodes = boxes_of_nodes
        self._made = made_by_calls or {}
        self._owners = owners or {}
        self.focus = ""
        self._calls: list[str] = []  # names of the open calls in a run
        self._open: list[tuple[Event, str]] = []  # open spans with their boxes
        self._flash: tuple[str, int] | None = None  # a box with an event without duration
        self._contributions = _contributions_of(graph)
        self._inside = _inside_of(graph)
        self._fed: dict[str, list[str]] = {}  # the inputs of nested models, which have no events
        for node in graph.nodes:
            if node.group and node.kind == "input":
                self._fed.setdefault(node.group, []).append(node.id)
        outputs = [edge.source for edge in graph.edges if edge.target == LOSS]
        self._losses = {f"{layer_of(name).partition('@')[0]}_loss" for name in outputs}
        self._swept = ""  # the current op of the gradient sweep
        self._sent: Counter[str] = Counter()  # its number of contributions, by gradient

    @property
    def arrows(self) -> Sequence[GraphEdge]:
        """The arrows between calls. The frame of a nested model counts as a call."""
        return _between_calls(self.graph)

    def feed(self, event: Event) -> None:
        """Update the states of the boxes with the next event."""
        if self._flash is not None:
            box, state = self._flash
            self.now[box], self._flash = state, None
        if event.ph == BEGIN:
            self._begin(event)
        elif event.ph == END:
            self._end(event)
        else:
            self._instant(event)
        owner = self._owner_of(event.name) if event.name else ""
        if owner in self.now:
            self.focus = owner
        for delta in event.deltas:
            if delta.name == "grads" and event.phase == "backward":
                self._mark_done(f"grad:{delta.key}")

    # --- spans ------------------------------------------------------------------------------------

    def _begin(self, event: Event) -> None:
        if event.kind in RUNS and not self._calls:  # not inside a nested model
            self._start_anew(event)
        box = self._box_of(event) if event.kind in self.spans else ""
        if box:
            self.now[box], self.focus = NOW, box
        for fed in self._fed.get(box, ()):
            self._mark_done(fed)
        self._open.append((event, box))
        if event.kind in CALLS:
            self._calls.append(event.name)

    def _end(self, event: Event) -> None:
        begin, box = self._open.pop() if self._open else (event, "")
        if begin.kind in CALLS and self._calls:
            self._calls.pop()
        if not box:
            return
        self.focus = box
        if value_of_event(event, "error") is not None:
            self.now[box] = FAILED
            return
        # Events do not distinguish two calls of a layer in a nested model. So all of them are done
        # when the model is done.
        for done in (box, *self._inside.get(box, ())):
            self.now[done] = self._state_after(event)

    def _state_after(self, event: Event) -> int:
        is_backward = event.phase == "backward" or event.kind == "grad.node"
        return GRADIENT if is_backward else DONE

    def _instant(self, event: Event) -> None:
        if event.kind == "grad.op":
            self._sweep(event.name)
        box = self._box_of(event) if event.kind in self.instants else ""
        if not box:
            return
        self.focus = box
        after = self.now[box] if self.now[box] == NOW else DONE
        self.now[box], self._flash = NOW, (box, after)

    def _start_anew(self, event: Event) -> None:
        self._sweep("")
        is_sweep = event.kind == "gradients"
        for group in self.graph.groups:
            self.now[group.id] = TODO
        for node in self.graph.nodes:
            is_there = node.kind in SOURCES and event.kind == "function"
            before = is_sweep and not node.id.startswith("grad:")
            self.now[node.id] = DONE if is_there or before else TODO
        fed = value_of_event(event, "tensor_map")
        for key in fed if isinstance(fed, dict) else ():
            if key in self.now:
                self.now[key] = DONE

    # --- names ------------------------------------------------------------------------------------

    def _box_of(self, event: Event) -> str:
        """Return the box of an event, or "" for an event without a box in the picture."""
        name = event.name
        if event.kind == "grad.accum":
            name = f"grad:{name}"
            self._contribute(name)
        if event.kind == "layer.call" and not event.phase and not self._calls:
            name = self._made.get(event.t, name)
        if layer_of(name) != name:
            name = self._box_of_node(name)
        is_whole = "library" in self.graph.attrs  # its names already include the enclosing frames
        if event.kind in ("node", "layer.call", "tmap.set") and self._calls and not is_whole:
            name = "/".join([*self._calls, name])
        return self._drawn(name)

    def _owner_of(self, name: str) -> str:
        """Return the box of the call that owns a variable; "" if there is none.

        `name` is the name of the variable, or of an op of its update ("update/d/kernel/add").
        """
        name = name.removeprefix("update/")
        while name and name not in self._owners:
            name = name.rpartition("/")[0]
        return self._owners.get(name, "")

    def _drawn(self, name: str) -> str:
        """Return the id of the box with this name, or of the loss with this name; "" if none."""
        if name not in self.now and (name == LOSS or name in self._losses):
            name = LOSS
        return name if name in self.now else ""

    def _mark_done(self, box: str) -> None:
        if box in self.now:
            self.now[box] = DONE

    def _sweep(self, op: str) -> None:
        self._swept = op
        self._sent.clear()

    def _contribute(self, gradient: str) -> None:
        """Mark the box of the current contribution to a gradient as done.

        The box is found by the sender of the contribution: an op, or a call in the picture of a
        model. The number in the name of a box cannot be used, because boxes are numbered in forward
        order, and events follow the sweep.
        """
        place = self._sent[gradient]
        self._sent[gradient] += 1
        calls = [event.name for event, _ in self._open if event.kind == "grad.node"]
        for sender in (self._swept, *calls[-1:]):
            boxes = self._contributions.get((gradient, sender))
            if boxes:
                self._mark_done(boxes[min(place, len(boxes) - 1)])
                return

    def _box_of_node(self, name: str) -> str:
        return self._of_nodes.get(name, "") if self._of_nodes else layer_of(name)


def _inside_of(graph: Graph) -> dict[str, list[str]]:
    """Return the boxes and frames inside each frame that is a call of a nested model.

    On a ladder, a call of a nested model has a second frame, for its gradients.
    """
    nested = [group for group in graph.groups if kind_of_group(group) in ("call", "gradients")]
    parents = {group.id: group.parent for group in graph.groups}
    found: dict[str, list[str]] = {group.id: [] for group in nested}
    for name, around in (
        *((node.id, node.group) for node in graph.nodes),
        *((group.id, group.parent) for group in nested),
    ):
        while around:
            if around in found:
                found[around].append(name)
            around = parents[around]
    return found


def _between_calls(graph: Graph) -> list[GraphEdge]:
    """Return the arrows of a graph, plus arrows from and to the nested models that they cross."""
    nested = {group.id for group in graph.groups if kind_of_group(group) == "call"}
    parents = {group.id: group.parent for group in graph.groups}

    def around(box: str) -> list[str]:
        found, group = [], graph.node(box).group
        while group:
            found += [group] if group in nested else []
            group = parents[group]
        return found

    if not nested:
        return list(graph.edges)
    edges = []
    for edge in graph.edges:
        source, target = around(edge.source), around(edge.target)
        left = [group for group in source if group not in target]
        entered = [group for group in target if group not in source]
        made = replace(edge, source=left[-1]) if left else edge
        edges += [made, *(replace(made, target=group) for group in entered)]
    return edges


def _contributions_of(graph: Graph) -> dict[tuple[str, str], list[str]]:
    """Return the boxes of contributions to gradients, by (gradient's box, sender).

    The sender of a contribution is the op or the call that computes it.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for node in graph.nodes:
        match = CONTRIBUTION.fullmatch(node.label)
        if match:
            gradient = node.id.rpartition("#")[0]
            found.setdefault((gradient, match["consumer"]), []).append(node.id)
    return found


def nodes_made(events: Iterable[Event]) -> dict[int, str]:
    """Return the names of the Nodes made by calls of layers, by the start times of the calls."""
    made: dict[int, str] = {}
    calls: list[Event] = []
    for event in events:
        if event.kind == "node.create" and calls and layer_of(event.name) == calls[-1].name:
            made[calls[-1].t] = event.name
        elif event.kind == "layer.call" and event.ph == BEGIN:
            calls.append(event)
        elif event.kind == "layer.call" and event.ph == END and calls:
            calls.pop()
    return made


# --- the drawing ----------------------------------------------------------------------------------


MOST_BOXES = 400  # boxes of a picture without folding
# The outline of a box in each state: its hue, its width, its dashes.
LOOKS = {
    TODO: ("grey", 1.0, "4 3"),
    NOW: ("orange", 4.0, "none"),
    DONE: ("green", 1.8, "none"),
    GRADIENT: ("blue", 2.4, "9 2"),
    FAILED: ("vermillion", 4.0, "2 2"),
}
WIDEST_WORDS = "gradient"  # the longest text in the line for a state
STATE_ROOM = {"state": "pending", "note": WIDEST_WORDS}  # attributes of a box with this line


def _with_state(node: GraphNode) -> GraphNode:
    return replace(node, attrs={**node.attrs, **STATE_ROOM})


@dataclass(frozen=True)
class Picture:
    """A graph to draw, and the box for each Node of the model.

    Attributes
    ----------
    whole : Graph
        The graph with all its frames.
    boxes_of_nodes : dict of str to str
        The box of each Node, by the name of the Node.
    owners : dict of str to str
        The box of the call that owns a variable.
    closed : frozenset of str
        Ids of the frames that are closed when the page opens.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name="scores")])
    >>> picture = ks.play(model, [[1.0, 2.0]]).picture
    >>> picture.words["scores"], picture.boxes_of_nodes["scores_ib-0"]
    ('scores: Dense, depth 0, (None, 2) to (None, 1)', 'scores')
    """

    whole: Graph
    boxes_of_nodes: dict[str, str]
    owners: dict[str, str] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    room = ReservedSpace(_with_state, least=LEAST, beside=BESIDE)  # reserved by the page

    @cached_property
    def graph(self) -> Graph:
        """The graph that is drawn when the page opens."""
        return View(self.whole, self.closed).shown

    @property
    def options(self) -> PictureOptions:
        """The options with which the graph is drawn."""
        has_depths = self.whole.attrs.get("level", "node") in ("node", "layer")
        return PictureOptions(depth_ranks=has_depths, theme="light")

    @property
    def folded(self) -> int:
        """Number of boxes inside closed frames."""
        groups = {group.id for group in self.whole.groups}
        drawn = sum(node.id not in groups for node in self.graph.nodes)
        return len(self.whole.nodes) - drawn

    @property
    def svg(self) -> str:
        """The picture as SVG, with reserved space for the state in each box."""
        graph = replace(self.graph, nodes=tuple(map(self.room.widened, self.graph.nodes)))
        placed, measures = arrange(graph, self.options)
        return svg_with_states(graph_sheet(graph, self.options, roomy(placed), measures))

    @property
    def words(self) -> dict[str, str]:
        """The text of each box by its id, in reading order."""
        return {node.id: tooltip(node) for node in reading_order(self.graph)}


def svg_with_states(sheet: Sheet) -> str:
    """Return an SVG in which each box with space for its state has a line for the page's script."""
    marks = tuple(map(_with_state_line, sheet.marks))
    return svg_of_sheet(replace(sheet, marks=marks)).strip()


def _with_state_line(mark: Mark) -> Mark:
    """Return a mark in which the line for the state of a box is only a centered symbol.

    The page's script replaces this symbol by the words for the current state.
    """
    if isinstance(mark, Group):
        return replace(mark, marks=tuple(map(_with_state_line, mark.marks)))
    if isinstance(mark, Label) and mark.look == "mark" and mark.text[1:] == f" {WIDEST_WORDS}":
        middle, sign = mark.x + mark.width / 2, mark.text[0]
        look = "mark state"
        return replace(mark, x=middle, text=sign, look=look, anchor="middle", pinned=False)
    return mark


def picture_for(
    tape: Tape, events: list[Event], graph: Any, *, with_loss: bool = False
) -> Picture | None:
    """Return the picture for a tape: the requested graph, otherwise the recorded model.

    If the picture has more than `MOST_BOXES` boxes, frames in it are closed.

    Parameters
    ----------
    tape : Tape
    events : list of Event
        The events that are shown.
    graph : optional
        The same as for `Player`.
    with_loss : bool
        Whether the loss is a box if it is computed.
    """
    if graph is False:
        return None
    made = _picture(tape, events, graph)
    if made is None:
        return None
    if len(made.graph.nodes) > MOST_BOXES:
        view = view_of(made.whole)
        made = replace(made, whole=view.whole, closed=view.closed)
    computes = any(e.kind == "loss" and e.act not in ("build", "compile") for e in events)
    model = graph if isinstance(graph, Network) else model_on_tape(tape, events)
    if with_loss and computes and isinstance(model, Network):
        made = replace(made, whole=_with_loss(made.whole, model))
    return made


def _with_loss(graph: Graph, model: Network) -> Graph:
    """Return a graph of calls with a box for the loss below its outputs."""
    names = {node.id for node in graph.nodes}
    if graph.attrs.get("level", "node") != "node" or LOSS in names:
        return graph
    sources = {edge.source for edge in graph.edges}
    outputs = [node for node in graph.nodes if node.id not in sources and not node.depth]
    what = getattr(model, "loss", "")
    detail = what if isinstance(what, str) else getattr(what, "name", "")
    nodes = tuple(replace(node, depth=node.depth + (not node.group)) for node in graph.nodes)
    groups = tuple(replace(one, depth=one.depth + (not one.parent)) for one in graph.groups)
    box = GraphNode(LOSS, LOSS, "loss", attrs={"detail": str(detail)} if detail else {})
    edges = (*graph.edges, *(GraphEdge(node.id, LOSS) for node in outputs))
    return Graph(graph.name, (*nodes, box), edges, groups, graph.attrs)


def _picture(tape: Tape, events: list[Event], graph: Any) -> Picture | None:
    model = graph if isinstance(graph, Network) else model_on_tape(tape, events)
    names: dict[str, str] = {}
    owners: dict[str, str] = {}
    if model is not None:
        model = model_with_graph(model, "Player")
        calls = list(calls_in(model))
        names = {call.node.name: call.id for call in calls}
        for call in reversed(calls):  # for a shared layer the first call counts
            layer = call.node.outbound_layer
            owners.update({weight.name: call.id for weight in layer.weights})
    if graph is None and model is not None:
        graph = model
    if graph is not None:
        view = _view(graph)
        _check_names(view.whole)
        return Picture(view.whole, names, owners, view.closed)
    recorded = list(tape[: events[-1].t + 1])
    try:
        found = graph_of_tape(recorded)
    except KerascopeError:
        return None
    return Picture(found, _boxes_of_nodes(recorded, {node.id for node in found.nodes}))


def _view(graph: Any) -> View:
    """Return the graph to draw, with its closed frames. In a model, nested models are closed."""
    if isinstance(graph, Drawing):
        return graph.view
    if isinstance(graph, Network):
        return view_of(graph_of(graph, None, True, "Player"), most=None)
    return View(graph_of(graph, where="Player"))


def _check_names(graph: Graph) -> None:
    """Raise an error if ops in a picture share names, because events identify ops by name."""
    if graph.attrs.get("level") not in ("op", "gradient"):
        return
    for node in graph.nodes:
        if re.search(r"~\d+$|@\d+/", node.id):
            raise ArgumentError(
                f"Player: the picture has several ops like {node.id!r}, which events on the tape "
                "do not distinguish. Name them, `with K.name_scope('first'):`, or draw the model "
                "with a box for each call."
            )


def _boxes_of_nodes(events: list[Event], boxes: set[str]) -> dict[str, str]:
    """Return the box of each Node, by the Node's name, in the graph that was made from a tape."""
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


# --- the style of the states ----------------------------------------------------------------------


def picture_rules() -> str:
    """Return the CSS rules for the states of boxes. The colours are `--state0`, `--state1`, ..."""
    return "".join(
        f".box[data-state='{state}'] .line{{stroke:var(--state{state})!important;"
        f"stroke-width:{width:g}!important;stroke-dasharray:{dashes}!important}}\n"
        for state, (_, width, dashes) in LOOKS.items()
    )


def state_colors(palette: Palette) -> dict[str, str]:
    """Return the colours for the outlines of boxes, by their names in the style sheet."""
    return {f"state{state}": palette.mark(hue) for state, (hue, *_) in LOOKS.items()}


def flow_colors(palette: Palette) -> dict[str, str]:
    """Return the colours for the values on arrows and for the current box."""
    return {
        "now": palette.mark("orange"),
        "now-fill": palette.fill("orange"),
        "now-text": palette.sign("orange"),
        "grad": palette.line("purple"),
        "zero": palette.line("grey"),
        "positive": palette.line("vermillion"),
        "negative": palette.line("blue"),
    }

"""How far each box of the picture is at each event: to do, being done, done, gradient arrived."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.viz.graph import Graph

TODO, NOW, DONE, GRADIENT, FAILED = range(5)
# Spans with which a walk through the graph begins anew.
RUNS = (
    "build", "build_map", "depth_sort", "check_graph", "run_internal_graph", "gradients",
    "function",
)  # fmt: skip
CALLS = ("layer.call", "node")
SPANS = (*CALLS, "map.visit", "grad.node", "op")
INSTANTS = ("node.create", "map.depth", "depth.put", "tmap.set", "grad.op", "grad.accum")
SOURCES = ("placeholder", "variable", "constant")  # kinds of boxes that are there from the start
NODE = re.compile(r"(?P<layer>.*)_ib-\d+$")
# What the box of one contribution of several to a gradient says.
CONTRIBUTION = re.compile(r"contribution \d+ \(from (?P<consumer>.+)\)")


class BoxStates:
    """The states of the boxes of a graph; `feed` moves on by one event.

    Parameters
    ----------
    graph : Graph
    boxes_of_nodes : mapping of str to str
        The box of a node, by the node's name "dense_1_ib-0".
    made_by_calls : mapping of int to str, optional
        Of `nodes_made`.

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

    def __init__(
        self,
        graph: Graph,
        boxes_of_nodes: Mapping[str, str],
        made_by_calls: Mapping[int, str] | None = None,
    ) -> None:
        self.graph = graph
        self.now = {node.id: TODO for node in graph.nodes}
        self._of_nodes = boxes_of_nodes
        self._made = made_by_calls or {}
        self._calls: list[str] = []  # names of the calls that are open in a run
        self._open: list[tuple[Event, str]] = []  # spans that are open, with their boxes
        self._flash: tuple[str, int] | None = None  # a box that an instant has touched
        self._contributions = _contributions_of(graph)
        self._swept = ""  # the op through which the sweep goes
        self._sent: Counter[str] = Counter()  # how often it has sent something, by gradient

    def feed(self, event: Event) -> None:
        """Move on to the states at one more event."""
        if self._flash is not None:
            box, state = self._flash
            self.now[box], self._flash = state, None
        if event.ph == BEGIN:
            self._begin(event)
        elif event.ph == END:
            self._end(event)
        else:
            self._instant(event)
        for delta in event.deltas:
            if delta.name == "grads" and event.phase == "backward":
                self._mark_done(f"grad:{delta.key}")

    # --- spans ------------------------------------------------------------------------------------

    def _begin(self, event: Event) -> None:
        if event.kind in RUNS and not self._calls:  # not that of a nested model
            self._start_anew(event)
        box = self._box_of(event) if event.kind in SPANS else ""
        if box:
            self.now[box] = NOW
        self._open.append((event, box))
        if event.kind in CALLS:
            self._calls.append(event.name)

    def _end(self, event: Event) -> None:
        begin, box = self._open.pop() if self._open else (event, "")
        if begin.kind in CALLS and self._calls:
            self._calls.pop()
        if not box:
            return
        if value_of_event(event, "error") is not None:
            self.now[box] = FAILED
        else:
            self.now[box] = GRADIENT if _is_backward(event) else DONE

    def _instant(self, event: Event) -> None:
        if event.kind == "grad.op":
            self._sweep(event.name)
        box = self._box_of(event) if event.kind in INSTANTS else ""
        if not box:
            return
        after = self.now[box] if self.now[box] == NOW else DONE
        self.now[box], self._flash = NOW, (box, after)

    def _start_anew(self, event: Event) -> None:
        self._sweep("")
        is_sweep = event.kind == "gradients"
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
        """Return the box of which an event speaks; "" if it is none of this picture."""
        name = event.name
        if event.kind == "grad.accum":
            name = f"grad:{name}"
            self._contribute(name)
        if event.kind == "layer.call" and not event.phase and not self._calls:
            name = self._made.get(event.t, name)
        if NODE.match(name):
            name = self._box_of_node(name)
        if event.kind in ("node", "layer.call", "tmap.set") and self._calls:
            name = "/".join([*self._calls, name])
        return name if name in self.now else ""

    def _mark_done(self, box: str) -> None:
        if box in self.now:
            self.now[box] = DONE

    def _sweep(self, op: str) -> None:
        self._swept = op
        self._sent.clear()

    def _contribute(self, gradient: str) -> None:
        """Mark the box of one contribution of several to a gradient: that of who sends it.

        Who sends it is an op or, in the picture of a model, a call. The number in the box's name
        does not help: boxes are counted as the forward pass reads, events as the sweep goes.
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
        if self._of_nodes:
            return self._of_nodes.get(name, "")
        return layer_of(name)


def _contributions_of(graph: Graph) -> dict[tuple[str, str], list[str]]:
    """Return the boxes of contributions, by the box of the gradient and by who sends them."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in graph.nodes:
        said = CONTRIBUTION.fullmatch(node.label)
        if said:
            gradient = node.id.rpartition("#")[0]
            found.setdefault((gradient, said["consumer"]), []).append(node.id)
    return found


def nodes_made(events: Iterable[Event]) -> dict[int, str]:
    """Return which node each call of a layer is going to make, by the time at which it begins."""
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


def layer_of(node_name: str) -> str:
    """Return the layer of a node, by its name.

    Examples
    --------
    >>> layer_of("dense_1_ib-0")
    'dense_1'
    """
    found = NODE.match(node_name)
    return found["layer"] if found else node_name


def _is_backward(event: Event) -> bool:
    return event.phase == "backward" or event.kind == "grad.node"

"""Forms: when two parts of a graph are built alike.

The *form* of a part is the list of what its boxes are and which feeds which, in an order that the
arrows alone decide: from the end backwards, operand by operand. Names do not enter. Two parts with
one form are isomorphic, because each list could be drawn again from the other. The *outline* leaves
out sizes: shapes and parameters.

Forms are kept in a book, which gives each a number. Equal numbers mean equal lists, not only equal
hashes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from kerascope.viz.collapse.levels import Link
from kerascope.viz.collapse.segments import Wiring
from kerascope.viz.graph import Graph, GraphGroup, GraphNode


class Form(NamedTuple):
    """How a part is built.

    Attributes
    ----------
    exact, outline : int
        Numbers of the form with and without sizes.
    boxes : tuple of str
        Ids of the boxes inside, in the order of the form: those of equal parts correspond.
    """

    exact: int
    outline: int
    boxes: tuple[str, ...]


class FormBook:
    """The forms of the boxes and frames of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.of: dict[str, Form] = {}
        self.boxes = {node.id: node for node in graph.nodes}
        self._numbers: dict[Hashable, int] = {}
        self._in_chains: dict[Hashable, tuple[int, int]] = {}
        self._places: dict[str, dict[str, int]] = {}
        leaving = _leaving_their_level(graph)
        known: dict[Hashable, tuple[int, int]] = {}
        for node in graph.nodes:
            get = node.attrs.get
            outline = (node.kind, get("class_name"), get("activation"))
            exact = (outline, _sizes(node, self.boxes), node.id in leaving)
            if exact not in known:
                known[exact] = self.number(exact), self.number(outline)
            self.of[node.id] = Form(*known[exact], (node.id,))

    def number(self, what: Hashable) -> int:
        """Return the number of a list; equal lists have one number."""
        return self._numbers.setdefault(what, len(self._numbers))

    def form(self, children: list[str], ends: Iterable[str], wiring: Wiring) -> Form:
        """Return the form of some children of a level.

        Parameters
        ----------
        children : list of str
        ends : iterable of str
            From where the order of the form goes backwards.
        wiring : Wiring
        """
        if len(children) == 1:
            return self._form_of_one(children[0], wiring.arriving[children[0]], wiring)
        order = _backwards(children, ends, wiring)
        places = {child: place for place, child in enumerate(order)}
        outside: dict[tuple[str, str, object], int] = {}
        exact, outline = [], []
        boxes: list[str] = []
        for child in order:
            form = self.of[child]
            arrows = tuple(
                self._arrow(link, places, outside, wiring)
                for link in sorted(wiring.arriving[child], key=_operand)
            )
            exact.append((form.exact, arrows))
            outline.append((form.outline, arrows))
            boxes += form.boxes
        return Form(self.number(tuple(exact)), self.number(tuple(outline)), tuple(boxes))

    def _form_of_one(self, child: str, links: list[Link], wiring: Wiring) -> Form:
        """Return the form of one child; most segments are that short."""
        form = self.of[child]
        if not links:
            return form
        if len(links) > 1:
            links = sorted(links, key=_operand)
        elif child in self.boxes:
            return self._form_in_a_chain(form, links[0], wiring)
        outside: dict[tuple[str, str, object], int] = {}
        arrows = tuple([self._arrow(link, {child: 0}, outside, wiring) for link in links])
        exact, outline = ((form.exact, arrows),), ((form.outline, arrows),)
        return Form(self.number(exact), self.number(outline), form.boxes)

    def _form_in_a_chain(self, form: Form, link: Link, wiring: Wiring) -> Form:
        """Return the form of a box with one arrow; its number is looked up by what matters."""
        attrs = link[2].attrs
        is_loop, far = link[0] == link[1], link[0] in wiring.sources and link[0] != link[1]
        if far:
            far = any(other[1] != link[1] for other in wiring.leaving[link[0]])
        ports = attrs.get("output", 0), attrs.get("operand", 0), attrs.get("role")
        key = (form.exact, form.outline, is_loop, far, *ports)
        if key not in self._in_chains:
            arrow = (self._arrow(link, {link[1]: 0}, {}, wiring),)
            numbers = self.number(((form.exact, arrow),)), self.number(((form.outline, arrow),))
            self._in_chains[key] = numbers
        return Form(*self._in_chains[key], form.boxes)

    def frame(self, group: GraphGroup, inside: Form) -> Form:
        """Return the form of a frame from that of what it holds, and remember it."""
        attrs = group.attrs
        what = (attrs.get("kind", "call"), attrs.get("class_name"), attrs.get("copies"))
        exact, outline = (*what, "exact", inside.exact), (*what, "outline", inside.outline)
        self.of[group.id] = Form(self.number(exact), self.number(outline), inside.boxes)
        return self.of[group.id]

    def _arrow(
        self,
        link: Link,
        places: Mapping[str, int],
        outside: dict[tuple[str, str, object], int],
        wiring: Wiring,
    ) -> tuple[object, ...]:
        """Return where an arrow comes from and where it arrives, in places instead of names."""
        edge = link.edge
        output: object = edge.attrs.get("output", 0)
        operand = edge.attrs.get("operand", 0)
        if "role" in edge.attrs:
            output = (output, edge.attrs["role"])
        target = self._place_inside(link.target, edge.target)
        if link.source in places:
            source = self._place_inside(link.source, edge.source)
            return places[link.source], source, output, target, operand
        far = link.source in wiring.sources and any(
            other.target not in places for other in wiring.leaving[link.source]
        )
        role = "far" if far else "before"
        number = outside.setdefault((role, edge.source, output), len(outside))
        return role, number, output, target, operand

    def _place_inside(self, child: str, box: str) -> int:
        if child == box:
            return 0
        if child not in self._places:
            self._places[child] = {one: i for i, one in enumerate(self.of[child].boxes)}
        return self._places[child][box]


def weights_of(boxes: Iterable[str], book: FormBook) -> list[str]:
    """Return whose weights the boxes have: the id of the first box with them, "" for none."""
    return [_owner(book.boxes[box]) for box in boxes]


def _owner(node: GraphNode) -> str:
    shared = str(node.attrs.get("shared_with", ""))
    return shared or (node.id if node.attrs.get("parameters") else "")


def _sizes(node: GraphNode, boxes: Mapping[str, GraphNode]) -> tuple[Hashable, ...]:
    """Return sizes of a box; calls of a shared layer have the parameters of its first call."""
    attrs = node.attrs
    shared = attrs.get("shared_with")
    owner = boxes.get(str(shared), node) if shared else node
    return attrs.get("output_shapes"), attrs.get("dtype"), owner.attrs.get("parameters")


def _leaving_their_level(graph: Graph) -> dict[str, None]:
    """Return the boxes on the way that also give an output of the model."""
    used = {edge.source: None for edge in graph.edges}
    return {node.id: None for node in graph.nodes if node.attrs.get("outputs") and node.id in used}


def _operand(link: Link) -> tuple[int, int]:
    attrs = link.edge.attrs
    return int(attrs.get("operand", 0)), int(attrs.get("output", 0))


def _backwards(children: list[str], ends: Iterable[str], wiring: Wiring) -> list[str]:
    """Return the children in the order in which a walk from the ends backwards leaves them."""
    inside = dict.fromkeys(children)
    done: dict[str, None] = {}
    begun: dict[str, None] = {}
    # What feeds no end goes round in a circle, and follows.
    waiting = [(end, False) for end in reversed([*ends, *children])]
    while waiting:
        child, fed = waiting.pop()
        if fed:
            done[child] = None
            continue
        if child in begun:
            continue
        begun[child] = None
        waiting.append((child, True))
        links = sorted(wiring.arriving[child], key=_operand, reverse=True)
        waiting += [(link.source, False) for link in links if link.source in inside]
    return list(done)

"""Sequences of parts in a frame level, and a comparison of their structure.

A *cut* is a position in the order of the boxes that only the outputs of one box cross: everything
after it depends on everything before it through that box alone. The part between two cuts is a
segment: for example a single box, a residual block, or an inception module. A frame level can
contain several sequences: parallel towers, side outputs, and, in parts without cuts, chains, in
which each box is the only source of the next one.

Inputs are outside every sequence, and so is any box without inputs that several others use (such as
a mask for all blocks of a transformer), because it would cross every cut.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.nesting import FrameLevel, Link

# --- segments -------------------------------------------------------------------------------------

SOURCE_KINDS = ("input", "tensor", "placeholder", "constant", "variable")
# Larger segments are searched again, because their branches may be sequences themselves.
LARGEST_SEGMENT = 40
# How often parts of a segment are searched again. After that they are divided into chains.
MOST_ROUNDS = 12
# The number of boxes visited in all rounds is limited to this, plus twice the number of boxes.
LEAST_BUDGET = 20_000
# An input with more users feeds many blocks, so it is not the beginning of the first one.
MOST_BRANCHES = 4


@dataclass(slots=True)
class ChainPiece:
    """A piece of a sequence of children: the children between two cuts, or a single child.

    A cut is a position in the computation order that only one child's outputs cross. The pieces are
    single children if the sequence is a chain, in which each child is the only source of the next.

    Attributes
    ----------
    children : list of str
        In computation order.
    """

    children: list[str]

    @property
    def exit(self) -> str:
        """The last child: every path from this piece to a later piece leads through it."""
        return self.children[-1]


@dataclass(frozen=True)
class Wiring:
    """The links (arrows) of a frame level: those that arrive at and leave each child.

    Attributes
    ----------
    arriving, leaving : dict of str to list of Link
    sources : dict of str to None
        Children that belong to no sequence of parts: inputs, and boxes without inputs that several
        others use.
    """

    arriving: Mapping[str, list[Link]]
    leaving: Mapping[str, list[Link]]
    sources: Mapping[str, None]


def wiring_of(level: FrameLevel, kinds: Mapping[str, str]) -> tuple[Wiring, Wiring]:
    """Return the links of a frame level by child, twice: all links, and those that carry data.

    Parameters
    ----------
    level : FrameLevel
    kinds : mapping of str to str
        The kind of each box. Frames are not included.
    """
    links = level.flow()
    arriving, leaving = _by_child(level.children, links)
    sources: dict[str, None] = {}
    for child in level.children:
        if not arriving[child] and child in kinds:
            several = len(leaving[child]) > 1 and kinds[child] in SOURCE_KINDS
            if several or kinds[child] == "input":
                sources[child] = None
    flow = Wiring(arriving, leaving, sources)
    if len(links) == len(level.links):
        return flow, flow
    return Wiring(*_by_child(level.children, level.links), sources), flow


def _by_child(
    children: list[str], links: list[Link]
) -> tuple[dict[str, list[Link]], dict[str, list[Link]]]:
    arriving: dict[str, list[Link]] = {child: [] for child in children}
    leaving: dict[str, list[Link]] = {child: [] for child in children}
    for link in links:
        arriving[link[1]].append(link)
        leaving[link[0]].append(link)
    return arriving, leaving


def sequences_of(order: list[str], wiring: Wiring) -> list[list[ChainPiece]]:
    """Divide the children of a frame level into sequences of groups of children; return these.

    In a sequence, later groups depend on a group only through its last child. In a chain, each
    child is a group. Children without a connection, and branches that no other child uses, get
    sequences of their own.

    Parameters
    ----------
    order : list of str
        The children of a frame level in computation order.
    wiring : Wiring

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge
    >>> arrows = [("a", "b"), ("b", "c"), ("b", "d"), ("c", "d"), ("d", "e")]
    >>> links = [Link(*arrow, GraphEdge(*arrow)) for arrow in arrows]
    >>> level = FrameLevel("", list("abcde"), links)
    >>> wiring, _ = wiring_of(level, dict.fromkeys("abcde", "op"))
    >>> (sequence,) = sequences_of(level.children, wiring)
    >>> [group.children for group in sequence]
    [['a'], ['b'], ['c', 'd'], ['e']]
    """
    waiting = [([child for child in order if child not in wiring.sources], 0)]
    found: list[list[ChainPiece]] = []
    budget = LEAST_BUDGET + 2 * len(order)
    while waiting:
        children, rounds = waiting.pop()
        budget -= len(children)
        if budget < 0:
            found += _chains(children, wiring)
            continue
        for part in _components(children, wiring):
            main, side_outputs = _main_part(part, wiring)
            if side_outputs and rounds < MOST_ROUNDS:
                waiting.append((side_outputs, rounds + 1))
            elif side_outputs:
                found += _chains(side_outputs, wiring)
            pieces: list[ChainPiece] = []
            for segment in _cut(main, wiring):
                if len(segment.children) <= LARGEST_SEGMENT:
                    pieces.append(segment)
                    continue
                found.append(pieces)
                pieces = [ChainPiece([segment.exit])]
                inner = segment.children[:-1]
                if rounds < MOST_ROUNDS:
                    waiting.append((inner, rounds + 1))
                else:
                    found += _chains(inner, wiring)
            found.append(pieces)
    position = {child: number for number, child in enumerate(order)}
    filled = [sequence for sequence in found if sequence]
    return sorted(filled, key=lambda sequence: position[sequence[0].children[0]])


def _components(children: list[str], wiring: Wiring) -> list[list[str]]:
    """Return the connected components of a list of children, each in the order of the list."""
    inside = dict.fromkeys(children, -1)
    count = 0
    for child in children:
        if inside[child] >= 0:
            continue
        inside[child], waiting = count, [child]
        while waiting:
            one = waiting.pop()
            near = [link[0] for link in wiring.arriving[one]]
            near += [link[1] for link in wiring.leaving[one]]
            for other in near:
                if inside.get(other) == -1:
                    inside[other] = count
                    waiting.append(other)
        count += 1
    parts: list[list[str]] = [[] for _ in range(count)]
    for child in children:
        parts[inside[child]].append(child)
    return parts


def _main_part(part: list[str], wiring: Wiring) -> tuple[list[str], list[str]]:
    """Split children into those that lead to the end of the longest path, and the rest."""
    if len(part) == 1:
        return part, []
    length: dict[str, int] = dict.fromkeys(part, 0)
    far = len(part)  # children outside the part are not updated
    for child in part:
        for link in wiring.leaving[child]:
            if length.get(link[1], far) <= length[child]:
                length[link[1]] = length[child] + 1
    end = max(part, key=lambda child: length[child])
    needed, waiting = {end: None}, [end]
    while waiting:
        for link in wiring.arriving[waiting.pop()]:
            if link.source in length and link.source not in needed:
                needed[link.source] = None
                waiting.append(link.source)
    return (
        [child for child in part if child in needed],
        [child for child in part if child not in needed],
    )


def _cut(children: list[str], wiring: Wiring) -> list[ChainPiece]:
    """Divide children into pieces at every position that only one child's outputs cross."""
    if len(children) == 1:
        return [ChainPiece(children)]
    position = {child: number for number, child in enumerate(children)}
    last_use = [0] * len(children)
    for number, child in enumerate(children):
        for link in wiring.leaving[child]:
            last_use[number] = max(last_use[number], position.get(link[1], 0))
    ending = [0] * (len(children) + 1)
    for number, last in enumerate(last_use):
        if last > number:
            ending[last] += 1
    segments, start, reaching = [], 0, 0
    beginning = _end_of_beginning(children, position, wiring)
    for number, last in enumerate(last_use):
        reaching += (last > number) - ending[number]
        if reaching <= 1 and number >= beginning:
            segments.append(ChainPiece(children[start : number + 1]))
            start = number + 1
    return segments


def _end_of_beginning(children: list[str], position: dict[str, int], wiring: Wiring) -> int:
    """Return the position of the last child that has a source in common with the first child.

    Only sources outside the sequence count, such as a mask. A source with more than `MOST_BRANCHES`
    users is ignored. The result is 0 if there is no common source, or if the position is not below
    `LARGEST_SEGMENT`.
    """
    end = 0
    for link in wiring.arriving[children[0]]:
        if link.source not in wiring.sources:
            continue
        users: dict[str, None] = {}
        for other in wiring.leaving[link.source]:
            users[other.target] = None
            if len(users) > MOST_BRANCHES:
                break
        else:
            end = max([end, *(position.get(user, 0) for user in users)])
    return end if end < LARGEST_SEGMENT else 0


def _chains(children: list[str], wiring: Wiring) -> list[list[ChainPiece]]:
    """Return the chains in a set of children.

    In a chain, each child is the only source in the set of the next child, and has no other target.
    """
    inside = dict.fromkeys(children)
    before: dict[str, str] = {}
    for child in children:
        sources = dict.fromkeys(
            link.source for link in wiring.arriving[child] if link.source in inside
        )
        if len(sources) == 1:
            (source,) = sources
            targets = dict.fromkeys(link.target for link in wiring.leaving[source])
            if len(targets) == 1:
                before[child] = source
    chains: dict[str, list[ChainPiece]] = {}
    head: dict[str, str] = {}
    for child in children:
        head[child] = head[before[child]] if child in before else child
        chains.setdefault(head[child], []).append(ChainPiece([child]))
    return list(chains.values())


# --- forms: comparing the structure of parts ------------------------------------------------------
#
# The *form* of a part lists its boxes (class, activation, sizes) and their arrows, in an order that
# depends only on the arrows: from the end backwards, operand by operand. Names do not matter. Parts
# with equal forms are isomorphic. The *outline* of a part is its form without sizes, which are
# shapes and parameters.
#
# A registry gives each form a number. Equal numbers mean equal lists, not just equal hashes.


class PartForm(NamedTuple):
    """The structural form of a part of a graph. Parts with equal forms are isomorphic.

    Attributes
    ----------
    exact, outline : int
        Numbers of the form with and without sizes.
    boxes : tuple of str
        Ids of the boxes inside, in the order of the form. Boxes of equal parts correspond by
        position.
    """

    exact: int
    outline: int
    boxes: tuple[str, ...]


class FormRegistry:
    """Gives equal numbers to boxes, frames and sequences of them that have the same structure."""

    def __init__(self, graph: Graph) -> None:
        self.of: dict[str, PartForm] = {}
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
            self.of[node.id] = PartForm(*known[exact], (node.id,))

    def number(self, what: Hashable) -> int:
        """Return the number of a description of a form. Equal descriptions have the same number."""
        return self._numbers.setdefault(what, len(self._numbers))

    def form(self, children: list[str], ends: Iterable[str], wiring: Wiring) -> PartForm:
        """Return the `PartForm` of the given children of a frame level.

        Parameters
        ----------
        children : list of str
        ends : iterable of str
            The last children. The boxes of the form are listed backwards from these children.
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
        return PartForm(self.number(tuple(exact)), self.number(tuple(outline)), tuple(boxes))

    def _form_of_one(self, child: str, links: list[Link], wiring: Wiring) -> PartForm:
        """Return the `PartForm` of a single child, the most frequent case, by a fast path."""
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
        return PartForm(self.number(exact), self.number(outline), form.boxes)

    def _form_in_a_chain(self, form: PartForm, link: Link, wiring: Wiring) -> PartForm:
        """Return the `PartForm` of a box together with its only incoming arrow.

        The numbers of such forms are cached.
        """
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
        return PartForm(*self._in_chains[key], form.boxes)

    def frame(self, group: GraphGroup, inside: PartForm) -> PartForm:
        """Return the form of a frame, given the form of its contents; store it in the dict `of`.

        Frames whose structure is the same have the same form.
        """
        attrs = group.attrs
        what = (attrs.get("kind", "call"), attrs.get("class_name"), attrs.get("copies"))
        exact, outline = (*what, "exact", inside.exact), (*what, "outline", inside.outline)
        self.of[group.id] = PartForm(self.number(exact), self.number(outline), inside.boxes)
        return self.of[group.id]

    def _arrow(
        self,
        link: Link,
        places: Mapping[str, int],
        outside: dict[tuple[str, str, object], int],
        wiring: Wiring,
    ) -> tuple[object, ...]:
        """Return an arrow with positions instead of names, to compare parts of a graph."""
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


def weights_of(boxes: Iterable[str], forms: FormRegistry) -> list[str]:
    """Return for each box the id of the first box with the same weights; "" without weights."""
    return [_owner(forms.boxes[box]) for box in boxes]


def _owner(node: GraphNode) -> str:
    shared = str(node.attrs.get("shared_with", ""))
    return shared or (node.id if node.attrs.get("parameters") else "")


def _sizes(node: GraphNode, boxes: Mapping[str, GraphNode]) -> tuple[Hashable, ...]:
    """Return the sizes of a box: shapes and parameters.

    A call of a shared layer has the parameters of the layer's first call.
    """
    attrs = node.attrs
    shared = attrs.get("shared_with")
    owner = boxes.get(str(shared), node) if shared else node
    return attrs.get("output_shapes"), attrs.get("dtype"), owner.attrs.get("parameters")


def _leaving_their_level(graph: Graph) -> dict[str, None]:
    """Return the boxes that compute an output of the model and also feed other boxes."""
    used = {edge.source: None for edge in graph.edges}
    return {node.id: None for node in graph.nodes if node.attrs.get("outputs") and node.id in used}


def _operand(link: Link) -> tuple[int, int]:
    attrs = link.edge.attrs
    return int(attrs.get("operand", 0)), int(attrs.get("output", 0))


def _backwards(children: list[str], ends: Iterable[str], wiring: Wiring) -> list[str]:
    """Return the children in post-order of a depth-first walk against the arrows from `ends`."""
    inside = dict.fromkeys(children)
    done: dict[str, None] = {}
    begun: dict[str, None] = {}
    # Children that feed no end are on a cycle; they come last.
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

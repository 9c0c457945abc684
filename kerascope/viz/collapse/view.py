"""The visible part of a graph: which frames are closed, and the states that closed frames show.

`view_of` closes enough frames for a readable picture, or the frames that the caller chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import bundled, collapsed, kind_of_group
from kerascope.viz.collapse.ladder_frames import (
    LEAST_ON_A_RAIL,
    closed_with_twins,
    forward_rail,
    is_nested_call,
    with_ladder_blocks,
    with_twins,
)
from kerascope.viz.graph import Graph
from kerascope.viz.nesting import hiding_of, nesting_of

MOST_BOXES = 60  # in a readable picture
TOLERANCE = 5 / 3  # up to this many times more boxes are better than generated frames
MOST_ROWS = 30  # in a narrow picture; if there are more, repeated blocks are closed
BOXES_A_ROW = 1.5  # a picture with fewer boxes per row is narrow
WHOLE_LEVELS = ("gradient", "training")
# The state of a closed frame is the first of these that a box inside it has.
STATES_BY_PRIORITY = ("failed", "nan", "current", "overridden", "highlight", "gradient")


@dataclass(frozen=True)
class View:
    """A complete graph, and which of its frames are closed.

    Parameters
    ----------
    whole : Graph
        The graph with all its frames.
    closed : frozenset of str
        Ids of the closed frames.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphGroup, GraphNode
    >>> boxes = [GraphNode("a", "a", "dense", "block"), GraphNode("b", "b", "dense", "block")]
    >>> graph = Graph("model", tuple(boxes), (), (GraphGroup("block", "block"),))
    >>> [[box.id for box in view.shown.nodes] for view in (View(graph), View(graph, {"block"}))]
    [['a', 'b'], ['block']]
    """

    whole: Graph
    closed: frozenset[str] = frozenset()

    @cached_property
    def shown(self) -> Graph:
        """The visible graph: closed frames are boxes that show the states of their contents."""
        if not self.closed:
            return self.whole
        return bundled(_with_inner_states(self.whole, collapsed(self.whole, self.closed)))


def _with_inner_states(whole: Graph, shown: Graph) -> Graph:
    """Return the graph `shown`; a closed frame without a state gets the state of its contents."""
    inner = _states_inside(whole)
    groups = {group.id for group in whole.groups}
    boxes = [
        replace(box, attrs={**box.attrs, "state": _common_state(inner[box.id])})
        if box.id in groups and not box.attrs.get("state") and _common_state(inner.get(box.id, ()))
        else box
        for box in shown.nodes
    ]
    return replace(shown, nodes=tuple(boxes))


def _states_inside(graph: Graph) -> dict[str, dict[str, None]]:
    """Return the states of the boxes in each frame, including inner frames."""
    parents = {group.id: group.parent for group in graph.groups}
    found: dict[str, dict[str, None]] = {}
    for node in graph.nodes:
        group = node.group
        while group:
            found.setdefault(group, {})[str(node.attrs.get("state", ""))] = None
            group = parents[group]
    return found


def _common_state(states: Iterable[str]) -> str:
    """Return the state of a closed frame: the most important state of the boxes inside it.

    This is the first of `STATES_BY_PRIORITY` that a box has. Otherwise it is the state that all
    boxes share, "current" or "pending" if calls are pending, "changed" in a comparison, or "".
    """
    listed = list(states)
    for state in STATES_BY_PRIORITY:
        if state in listed:
            return state
    if len(listed) == 1:
        return listed[0]
    if "pending" in listed:
        return "current" if "done" in listed else "pending"
    return "changed" if any(state in ("added", "removed", "changed") for state in listed) else ""


def view_of(graph: Graph, expand: Any = None, most: int | None = MOST_BOXES) -> View:
    """Return a view of a graph in which enough frames are closed for a readable picture.

    Parameters
    ----------
    graph : Graph
    expand : str, list of str, int, "all" or callable, optional
        Which frames are open; see `closed_for`.
    most : int, optional
        The approximate maximum number of visible boxes; None shows all. If there are more, or many
        rows of one or two boxes, repeated blocks become frames. Gradient graphs of tensors always
        show each box.
    """
    limit = len(graph.nodes) + 1
    if graph.attrs.get("ladder"):
        return _view_of_ladder(graph, expand, most)
    if most is None or graph.attrs.get("level") in WHOLE_LEVELS:
        return View(graph, closed_for(graph, expand, limit))
    closed = closed_by_default(graph, limit)
    if _shown(graph, closed) > most:
        limit, closed = most, closed_by_default(graph, most)
    if _shown(graph, closed) > most * TOLERANCE:
        graph = with_blocks(graph, most)  # the existing frames do not hide enough
    else:
        repeats = _repeats_if_narrow(View(graph, closed).shown, graph, most)
        if repeats is not None:
            graph, limit = repeats, MOST_ROWS
    return View(graph, closed_for(graph, expand, limit))


def _repeats_if_narrow(shown: Graph, whole: Graph, most: int) -> Graph | None:
    """Return `whole` with frames around repeated blocks if `shown` has many rows of few boxes.

    Return None if `shown` is short or wide, or if no block is repeated.
    """
    rows = len(shown.rows())
    if rows <= MOST_ROWS or len(shown.nodes) > BOXES_A_ROW * rows:
        return None
    found = with_blocks(whole, most)
    return found if any(kind_of_group(group) == "copies" for group in found.groups) else None


def _view_of_ladder(graph: Graph, expand: Any, most: int | None) -> View:
    """Return the view of a ladder: nested models are closed first, then cards, then blocks."""
    nested = frozenset(group.id for group in graph.groups if is_nested_call(group))
    flat, graph = graph, with_twins(graph) if nested else graph
    closed = nested | {one.id for one in graph.groups if one.attrs.get("twin") in nested}
    if most is not None and len(graph.nodes) > most * TOLERANCE:
        closed = frozenset(group.id for group in graph.groups)
        if _shown(graph, closed) > most:
            graph = with_ladder_blocks(flat, most)
            rail = [group for group in graph.groups if group.attrs.get("rail") == "forward"]
            inner = replace(forward_rail(graph), groups=tuple(rail))
            on_rail = closed_by_default(inner, max(LEAST_ON_A_RAIL, most // 3))
            twins = {group.id for group in graph.groups if group.attrs.get("twin") in on_rail}
            closed |= on_rail | twins
    if expand is not None and expand is not False:
        closed = closed_for(graph, expand, default=closed)
    return View(graph, closed_with_twins(graph, closed))


def _shown(graph: Graph, closed: frozenset[str]) -> int:
    """Return the number of boxes that are visible if the given frames are closed."""
    hiding = hiding_of(graph, closed)
    homes = Counter(hiding[node.group] for node in graph.nodes)
    return homes.pop("", 0) + len(homes)


# --- which frames are closed ----------------------------------------------------------------------

# The order in which kinds are closed. Kinds not listed, such as frames of ops, come last.
ORDER_OF_KINDS = ("scope", "copies", "branches", "block", "alike")


def closed_by_default(graph: Graph, most: int = MOST_BOXES) -> frozenset[str]:
    """Return the ids of the frames that are closed by default.

    Parameters
    ----------
    graph : Graph
    most : int
        Number of boxes in a readable picture.

    Returns
    -------
    frozenset of str
        All calls of nested models. While more than `most` boxes are visible: scopes, then copies,
        branches, blocks, alike blocks, and ranges of rows. Blocks are closed all at once. Other
        frames are closed together with all frames of the same classes, starting with those that
        hide the most. The last step hides as few boxes as possible. Ranges inside a closed frame
        are closed, too.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphGroup, GraphNode
    >>> boxes = tuple(GraphNode(f"s/{i}", f"s/{i}", "op", "s") for i in range(9))
    >>> graph = Graph("g", boxes, (), (GraphGroup("s", "s", attrs={"kind": "scope"}),))
    >>> closed_by_default(graph), closed_by_default(graph, most=5)
    (frozenset(), frozenset({'s'}))
    """
    closing = _Closing(graph)
    for group in graph.groups:
        if kind_of_group(group) == "call":
            closing.close(group.id)
    kinds = dict.fromkeys([*ORDER_OF_KINDS, *map(kind_of_group, graph.groups)])
    kinds.pop("rows", None)  # ranges exist only because everything else is too much
    for kind in (*kinds, "rows"):
        if closing.shown[""] > most:
            closing.close_kind(kind, most)
    for group in graph.groups:
        if kind_of_group(group) == "rows":
            closing.close(group.id)
    return frozenset(closing.closed)


def closed_for(
    graph: Graph, expand: Any = None, most: int = MOST_BOXES, default: frozenset[str] | None = None
) -> frozenset[str]:
    """Return the ids of the frames that are closed for a value of `expand`.

    Parameters
    ----------
    graph : Graph
    expand : None, "all", str, list of str, int or callable
        None: as `closed_by_default`. "all" (or True): no frame is closed. Names: frames by id or
        label, or boxes by id; they open together with all frames around them, and frames inside
        them stay closed. A number: the number of levels of frames that are open. A callable: takes
        a `GraphGroup` and returns whether this frame is open.
    most : int
        As for `closed_by_default`.
    default : frozenset of str, optional
        The frames that are closed without `expand`; default: `closed_by_default`.

    Raises
    ------
    ArgumentError
        No frame or box has the name, or `expand` has another type.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphGroup
    >>> groups = GraphGroup("a", "a"), GraphGroup("a/b", "b", "a")
    >>> graph = Graph("g", (), (), groups)
    >>> [sorted(closed_for(graph, expand)) for expand in (None, "a", 0, 1, "all")]
    [['a', 'a/b'], ['a/b'], ['a', 'a/b'], ['a/b'], []]
    """
    if expand is None or expand is False:
        return closed_by_default(graph, most) if default is None else default
    if expand is True or (isinstance(expand, str) and expand == "all"):
        return frozenset()
    if isinstance(expand, int):
        if expand < 0:
            raise ArgumentError(f"expand: expected a number of levels of 0 or more, got {expand}.")
        nesting = nesting_of(graph)
        return frozenset(group.id for group in graph.groups if nesting[group.id] > expand)
    if callable(expand):
        return frozenset(group.id for group in graph.groups if not expand(group))
    names = [expand] if isinstance(expand, str) else expand
    if not isinstance(names, (list, tuple, set, frozenset)):
        raise ArgumentError(
            "expand: expected None, 'all', a name, a list of names, a number of levels or a "
            f"function from a group to bool, got {expand!r}."
        )
    closed = closed_by_default(graph, most) if default is None else default
    return _closed_without(graph, names, closed)


def _closed_without(graph: Graph, names: Iterable[Any], default: frozenset[str]) -> frozenset[str]:
    """Return the closed frames after opening the frames `names` and all frames around them."""
    groups = {group.id: group for group in graph.groups}
    closed = dict.fromkeys(default)
    opened: dict[str, None] = {}
    for name in names:
        for group in _named(graph, name):
            while group and group not in opened:
                opened[group] = None
                group = groups[group].parent
    for inner in graph.groups:
        if inner.parent in opened and inner.parent in closed:
            closed[inner.id] = None
    return frozenset(group for group in closed if group not in opened)


def _named(graph: Graph, name: Any) -> list[str]:
    """Return the ids of the frames with this id or label, or of the frame around this box."""
    by_id = [group.id for group in graph.groups if group.id == name]
    found = by_id or [group.id for group in graph.groups if group.label == name]
    if found:
        return found
    boxes = {node.id: node.group for node in graph.nodes}
    if name in boxes:
        return [boxes[name]]
    known = dict.fromkeys([part.id for part in graph.groups] + [g.label for g in graph.groups])
    if not known:
        raise ArgumentError(f"expand: {graph.name!r} has no frames, got {name!r}. Leave it out.")
    raise ArgumentError(
        f"expand: nothing in {graph.name!r} is called {name!r}. "
        f"{did_you_mean(str(name), [*known, *boxes])}Use 'all' or one of: "
        f"{', '.join([*known][:20])}."
    )


class _Closing:
    """Counts the visible boxes in each frame while frames are closed one after another."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.closed: dict[str, None] = {}
        self.parent = {group.id: group.parent for group in graph.groups}
        self.shown = dict.fromkeys(["", *self.parent], 0)
        for node in graph.nodes:
            self.shown[node.group] += 1
        for group in reversed(graph.groups):
            self.shown[group.parent] += self.shown[group.id]

    def close(self, group: str) -> None:
        """Close a frame. Closing an empty frame, or one inside a closed frame, changes nothing."""
        hides = self.hides(group)
        self.closed[group] = None
        self.shown[group] -= hides
        while hides and group:
            group = self.parent[group]
            self.shown[group] -= hides

    def hides(self, group: str) -> int:
        """Return by how many boxes the picture gets smaller if this frame is closed."""
        around = group
        while around:
            if around in self.closed:
                return 0
            around = self.parent[around]
        return max(0, self.shown[group] - 1)

    def close_kind(self, kind: str, most: int) -> None:
        """Close frames of a kind until at most `most` boxes are visible.

        Similar frames (a family, see `_families`) are closed together, those that hide most first.
        """
        families = [*self._families(kind).values()]
        waiting = [(-self._hidden_by(family), number) for number, family in enumerate(families)]
        heapify(waiting)
        while waiting and self.shown[""] > most:
            hides, number = heappop(waiting)
            now = self._hidden_by(families[number])
            if not now:
                continue
            if now < -hides:
                heappush(waiting, (-now, number))
                continue
            needed = self.shown[""] - most
            if now > needed:  # the last step: perhaps less is enough
                others = [(self._hidden_by(families[other]), other) for _, other in waiting]
                number = min([(now, number), *(one for one in others if one[0] >= needed)])[1]
            for group in families[number]:
                self.close(group)

    def _hidden_by(self, family: list[str]) -> int:
        inside = dict.fromkeys(family)
        return sum(self.hides(group) for group in family if self.parent[group] not in inside)

    def _families(self, kind: str) -> dict[object, list[str]]:
        """Return the frames of a kind in families, which are closed together.

        A family consists of the frames whose boxes have the same classes. All frames of kind
        `block` are one family, and so are all ranges of rows in the same frame.
        """
        first: dict[str, list[str]] = {}
        classes: dict[str, list[str]] = {group.id: [] for group in self.graph.groups}
        for node in self.graph.nodes:
            if node.group:
                classes[node.group].append(str(node.attrs.get("class_name", node.kind)))
        for group in reversed(self.graph.groups):
            if kind_of_group(group) in ("copies", "alike"):
                held = first.get(group.id) or classes[group.id][:1]
            else:
                held = classes[group.id] + first.get(group.id, [])
            first[group.parent] = held
            classes[group.id] = held
        families: dict[object, list[str]] = {}
        nesting = nesting_of(self.graph)
        for group in self.graph.groups:
            if kind_of_group(group) == kind:
                key: object = tuple(sorted(classes[group.id]))
                if kind == "scope":  # only scopes at the same nesting level
                    key = nesting[group.id], key
                elif kind in ("block", "rows"):
                    key = {"block": "", "rows": group.parent}[kind]
                families.setdefault(key, []).append(group.id)
        return families

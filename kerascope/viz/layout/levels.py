"""Frame levels: the whole picture and each frame, as rows of items and the routes between them.

A frame level contains the direct children of the picture or of a frame: boxes, frames (one item
each) and, in a frame, the *doors* through which arrows enter and leave. A route is the part of one
arrow in one frame level. It lists the items that it passes: the first item, a *bend* in each row
between, and the last item. So an arrow from outside into a frame inside a frame has three routes,
joined at two doors.

Frame levels do not depend on sizes, so a viewer that opens and closes frames can reuse them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.nesting import BACKWARD_ROLES, chains_of, longest_paths, shared_length

# Kinds of items.
BOX, FRAME, ENTRY, EXIT, BEND, TITLE = "box", "frame", "entry", "exit", "bend", "title"
# A route over more rows than this runs in a lane to the right of all boxes.
LONGEST_SPAN = 30
MOST_BENDS_PER_ITEM = 6

Name = str | tuple[str, str]  # the id of a box, or the key of a frame (see `_frame`)


@dataclass(slots=True)
class Route:
    """The part of an arrow among the items of one frame, or of the whole picture.

    The parts of the arrow outside this frame and inside inner frames are other routes.

    Attributes
    ----------
    edge : int
        The arrow's index in the graph's `edges`.
    stops : list of int
        The items that the route passes, from top to bottom.
    tail, head : float
        Where the route leaves its first item and where it reaches its last item, from -0.5 to 0.5
        of the item's width. If the item is a frame, the door of the frame, where the arrow crosses
        its border, is used instead.
    lane : int
        The index of the route's lane next to the rows, 0 for the nearest lane; -1 for a route
        without a lane.
    beside : bool
        Whether the route runs from an item straight to its neighbour in the same row.
    place : int
        The position of the route among the routes of its arrow: negative for routes that leave
        frames, positive for routes that enter frames.
    turned : bool
        Whether the arrow points in the opposite direction, upward.
    """

    edge: int
    stops: list[int]
    tail: float = 0.0
    head: float = 0.0
    lane: int = -1
    beside: bool = False
    place: int = 0
    turned: bool = False


@dataclass(slots=True)
class Level:
    """The direct children of the picture (`group` is "") or of a frame, as items in rows.

    Attributes
    ----------
    kinds, names : list of str
        The kind of each item, and the id of its box or frame ("" for bends and doors).
    edges : list of int
        For each item that is a door (where an arrow crosses the frame), the index of the arrow; -1
        for other items.
    row_of : list of int
        The row of each item.
    rows : list of list of int
        The items of each row in order.
    routes : list of Route
    partners : dict of int to int
        For an item that must be immediately to the right of another item, the number of that other
        item.
    depths : list of (int or None)
        The depth of the boxes in each row; None for a row of doors.
    """

    group: str
    kinds: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    row_of: list[int] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    partners: dict[int, int] = field(default_factory=dict)
    depths: list[int | None] = field(default_factory=list)

    def add(self, kind: str, name: str = "", edge: int = -1) -> int:
        """Add an item and return its number; its row is assigned later."""
        self.kinds.append(kind)
        self.names.append(name)
        self.edges.append(edge)
        self.row_of.append(0)
        return len(self.kinds) - 1

    def add_to_row(self, kind: str, row: int, edge: int = -1) -> int:
        """Add an item at the end of a row and return its number."""
        item = self.add(kind, "", edge)
        self.row_of[item] = row
        self.rows[row].append(item)
        return item


def levels_of(graph: Graph) -> dict[str, Level]:
    """Return the frame level of each frame of a graph by its id, inner frames first."""
    builder = _Builder(graph)
    for number, edge in enumerate(graph.edges):
        builder.add_edge(number, edge)
    inner_first = [group.id for group in reversed(graph.groups)] + [""]
    for group in inner_first:
        builder.assign_rows(builder.levels[group])
    return {group: builder.levels[group] for group in inner_first}


class _Builder:
    """Adds every box, frame and part of an arrow to its frame level."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.levels = {"": Level("")}
        self.chains = chains_of(graph.groups)
        self.items: dict[Name, int] = {}  # id of a box or frame -> its item in its level
        self.depths: dict[Name, int] = {}
        for group in graph.groups:
            self.levels[group.id] = level = Level(group.id)
            level.add(TITLE)
            self.items[_frame(group.id)] = self.levels[group.parent].add(FRAME, group.id)
            self.depths[_frame(group.id)] = group.depth
        for node in graph.nodes:
            self.items[node.id] = self.levels[node.group].add(BOX, node.id)
            self.depths[node.id] = node.depth
        for node in graph.nodes:
            partner = self.nodes.get(str(node.attrs["beside"])) if "beside" in node.attrs else None
            if partner is not None and partner.group == node.group and partner is not node:
                self.levels[node.group].partners[self.items[node.id]] = self.items[partner.id]
        self.parallel = Counter((edge.source, edge.target) for edge in graph.edges)
        self.drawn: Counter[tuple[str, str]] = Counter()

    def add_edge(self, number: int, edge: GraphEdge) -> None:
        """Add an arrow, cut into routes at the frames that it leaves and enters."""
        tail, head = self._ends(edge)
        first, last = edge.source, edge.target
        shared, names = self._common(first, last)
        is_upward = edge.attrs.get("role") in BACKWARD_ROLES and first != last
        turned = is_upward and self.depths[names[0]] <= self.depths[names[1]]
        if turned:
            first, last, tail, head = last, first, head, tail
            names = (names[1], names[0])
        level = self.levels[self.chains[self.nodes[first].group][shared]]
        ends = (tail if names[0] == first else 0.0, head if names[1] == last else 0.0)
        stops = [self.items[names[0]], self.items[names[1]]]
        level.routes.append(Route(number, stops, *ends, turned=turned))
        for place, (group, name) in enumerate(self._inside(first, shared), start=1):
            inner = self.levels[group]
            stops = [self.items[name], inner.add(EXIT, "", number)]
            leaves = tail if name == first else 0.0
            inner.routes.append(Route(number, stops, leaves, place=-place, turned=turned))
        for place, (group, name) in enumerate(self._inside(last, shared), start=1):
            inner = self.levels[group]
            stops = [inner.add(ENTRY, "", number), self.items[name]]
            arrives = head if name == last else 0.0
            inner.routes.append(Route(number, stops, 0.0, arrives, place=place, turned=turned))

    def _common(self, first: str, last: str) -> tuple[int, tuple[Name, Name]]:
        """Return how deep the innermost frame around two boxes is nested, and an item for each box.

        The item is the box itself if it is directly in this frame. Otherwise it is the inner frame
        that contains the box.
        """
        one, other = self.chains[self.nodes[first].group], self.chains[self.nodes[last].group]
        shared = shared_length(one, other) - 1
        return shared, (_at(one, shared, first), _at(other, shared, last))

    def _inside(self, box: str, shared: int) -> list[tuple[str, Name]]:
        """Return the frames nested deeper than `shared` around a box, outermost first.

        Each frame comes with the item in it that is the box or contains the box.
        """
        chain = self.chains[self.nodes[box].group]
        return [(chain[i], _at(chain, i, box)) for i in range(shared + 1, len(chain))]

    def _ends(self, edge: GraphEdge) -> tuple[float, float]:
        """Return where an arrow leaves its source and reaches its target.

        The positions are from -0.5 (the left end of the box) to 0.5 (the right end).
        """
        source, target = self.nodes[edge.source], self.nodes[edge.target]
        if edge.attrs.get("role") in BACKWARD_ROLES:
            return _place_of_upward(source), _place_of_upward(target)
        tail, head = _port(edge, source, "output"), _port(edge, target, "operand")
        pair = edge.source, edge.target
        if self.parallel[pair] > 1 and tail == head == 0.0:
            tail = head = (self.drawn[pair] + 0.5) / self.parallel[pair] * 0.6 - 0.3
        self.drawn[pair] += 1
        return tail, head

    def assign_rows(self, level: Level) -> None:
        """Assign a row to every item of a frame level, and bends or a lane to every long route."""
        depths = self._depths_in(level)
        values = sorted(set(depths.values()), reverse=True)
        has_doors = level.group != ""
        row_of_depth = {depth: row + has_doors for row, depth in enumerate(values)}
        level.depths = [None, *values, None] if has_doors else [*values]
        level.rows = [[] for _ in level.depths]
        for item, kind in enumerate(level.kinds):
            if kind in (BOX, FRAME):
                row = row_of_depth[depths[item]]
            else:
                row = len(level.rows) - 1 if kind == EXIT else 0
            level.row_of[item] = row
            level.rows[row].append(item)
        _bend(level)

    def _depths_in(self, level: Level) -> dict[int, int]:
        """Return the depth of each box and frame in a frame level, as it is in the graph.

        If all have the same depth although arrows join them, return the length of the longest path
        from each of them instead.
        """
        depths = {
            item: self.depths[name if level.kinds[item] == BOX else _frame(name)]
            for item, name in enumerate(level.names)
            if level.kinds[item] in (BOX, FRAME)
        }
        pairs = [(route.stops[0], route.stops[1]) for route in level.routes]
        ends = [pair for pair in pairs if all(item in depths for item in pair)]
        if len(set(depths.values())) == 1 and any(one != other for one, other in ends):
            return longest_paths(list(depths), [pair for pair in ends if pair[0] != pair[1]])
        return depths


def _at(chain: Sequence[str], place: int, box: str) -> Name:
    """Return the item that represents a box in the frame level of the frame `chain[place]`.

    `chain` lists the frames around the box, from the outside in. The item is the box itself if
    this frame is the last one. Otherwise it is the next frame of the chain, which contains the box.
    """
    return box if place + 1 == len(chain) else _frame(chain[place + 1])


def _frame(group: str) -> tuple[str, str]:
    """Return the key of a frame, which differs from that of a box with the same id."""
    return FRAME, group


def _port(edge: GraphEdge, node: GraphNode, key: str) -> float:
    count = int(node.attrs.get("input_count" if key == "operand" else "output_count", 1))
    if key not in edge.attrs or count < 2:
        return 0.0
    return (min(int(edge.attrs[key]), count - 1) + 0.5) / count - 0.5


def _place_of_upward(node: GraphNode) -> float:
    """Return where upward arrows meet a box, from -0.5 to 0.5 of its width.

    It is the middle (0), or right of the middle if downward arrows meet the box as well.
    """
    return 0.0 if node.kind in ("gradient", "sum", "update") else 0.25


def _bend(level: Level) -> None:
    """Add a bend in each row that a route passes, or assign a lane to a very long route."""
    budget = MOST_BENDS_PER_ITEM * len(level.kinds)
    lanes = []
    for route in sorted(level.routes, key=lambda route: _span(level, route)):
        first, last = route.stops
        span = _span(level, route)
        if 1 <= span <= LONGEST_SPAN and (span == 1 or budget >= span):
            between = range(level.row_of[first] + 1, level.row_of[last])
            route.stops = [first, *(level.add_to_row(BEND, row) for row in between), last]
            budget -= span - 1
        else:
            lanes.append(route)
    _assign_lanes(level, lanes)


def _span(level: Level, route: Route) -> int:
    return level.row_of[route.stops[-1]] - level.row_of[route.stops[0]]


def _assign_lanes(level: Level, routes: list[Route]) -> None:
    """Assign to each route the nearest lane that is free in all its rows, short routes first."""
    taken: list[list[tuple[int, int]]] = []
    for route in sorted(routes, key=lambda route: abs(_span(level, route))):
        rows = sorted(level.row_of[item] for item in (route.stops[0], route.stops[-1]))
        lane = 0
        while lane < len(taken) and any(a <= rows[1] and rows[0] <= b for a, b in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((rows[0], rows[1]))
        route.lane = lane

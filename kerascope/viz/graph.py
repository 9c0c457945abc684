"""Graph: a model as plain boxes and arrows, from which every picture and export is made.

Extractors create a graph, overlays change it and writers draw it, independently of each other. A
graph contains only text and numbers, no layers or tensors, so it can be compared, written to a file
and read again. Keras has no such form: its `plot_model` converts layers directly to pydot, with
memory addresses as names of nodes.

`extract/layers.py` lists the attributes that describe a layer. Every writer also understands these:

==================  ===============================================================================
`detail`            further lines of text of a box, separated by line breaks; one line for a frame
`title`             a long name, shortened so that it differs from the others
`state`             how an overlay marked a box or an arrow: a key of `theme.STATES`; for a box also
                    its share of the time, one of `theme.HEATS`
`heat`              how strong the fill of a box is, in any state: one of `theme.HEATS`
`note`              text for the state, instead of the default text
`copies`            number of equal blocks that the box or frame represents
`same_weights`      whether the copies are calls of one layer rather than equal layers
`alike`             number of blocks of the same structure but other sizes that the box represents
`branches`          number of parallel branches that the box represents
`arrows`            for a box at the end of a bundle: number of arrows that need space at its side
`members`           number of boxes that a collapsed box hides
`depth_last`        for a frame found by `blocks.py`: depth of its last row
`role`              for an arrow: "gradient", "update" or "bundle" (many equal tensors); without it,
                    the arrow is a tensor
`connections`       for an arrow: number of arrows that it represents
`leaves_as`         for an arrow: its output number in each call that it leaves, inner calls first
==================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush

from kerascope.errors import ArgumentError, DtypeError

Attribute = str | int | float | bool
_PLAIN = frozenset((str, int, float, bool))


@dataclass(frozen=True)
class GraphNode:
    """A box of a graph: a layer, a call of a layer, or an op.

    Parameters
    ----------
    id : str
        The id: stable and unique in the graph. `engine.node_ids` explains how ids are made.
    label : str
        The text on the box: the layer's name.
    kind : str
        One of `kinds.KINDS`; it determines the colour and the symbol.
    group : str
        Id of the `GraphGroup` that contains the box, "" for none.
    depth : int
        The length of the longest path to an output of the box's own model. Outputs have depth 0.
    attrs : mapping of str to (str, int, float or bool)
        Further information by name, such as "state" or "detail" (lines of text in the box).
    made_at : str
        The user's line that created the layer or op: "train.py:11"; "" if unknown. It is ignored
        when graphs are compared, so the same model written in another file has an equal graph.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name="scores")])
    >>> box = ks.draw(model).graph.nodes[-1]
    >>> box.id, box.kind, box.depth, box.attrs["output_shapes"]
    ('scores', 'dense', 0, '(None, 1)')
    """

    id: str
    label: str
    kind: str
    group: str = ""
    depth: int = 0
    attrs: Mapping[str, Attribute] = field(default_factory=dict)
    made_at: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class GraphEdge:
    """An arrow of a graph, from the box `source` to the box `target`.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name="scores")])
    >>> [arrow] = ks.draw(model).graph.edges
    >>> arrow.source, arrow.target, arrow.attrs["shape"]
    ('scores_input', 'scores', '(None, 2)')
    """

    source: str
    target: str
    label: str = ""
    attrs: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphGroup:
    """A frame around boxes, such as one call of a nested model.

    Parameters
    ----------
    id, label : str
        The id, unique in the graph, and the text on the frame.
    parent : str
        Id of the frame around this one, "" for none.
    depth : int
        Depth of the call in the model around it.
    attrs : mapping of str to (str, int, float or bool)
        Further information by name, such as "output_shapes".

    Examples
    --------
    >>> group = GraphGroup("g1", "encoder", attrs={"output_shapes": "(None, 4)"})
    >>> group.label, group.parent
    ('encoder', '')
    """

    id: str
    label: str
    parent: str = ""
    depth: int = 0
    attrs: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """A model, or a part of it, as plain boxes, arrows and frames.

    Parameters
    ----------
    name : str
        The model's name.
    nodes : tuple of GraphNode
        In drawing order: deepest first.
    edges : tuple of GraphEdge
    groups : tuple of GraphGroup
        Outer frames before inner ones.
    attrs : mapping of str to (str, int, float or bool)
        Attributes of the whole graph: `level`, `caption`, `parameters`.

    Raises
    ------
    ArgumentError
        Two boxes or two frames have the same id, or an arrow or a box refers to a box or frame that
        does not exist.
    DtypeError
        An attribute is not text, a number or a bool.

    Examples
    --------
    >>> boxes = GraphNode("a", "a", "input"), GraphNode("b", "b", "dense")
    >>> graph = Graph("chain", boxes, (GraphEdge("a", "b"),))
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('a', 'b')]
    >>> Graph("broken", (), (GraphEdge("a", "b"),))
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: Graph 'broken': edge 'a' -> 'b' ends at an unknown box 'a'. Use
    one of: [].
    """

    name: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...] = ()
    attrs: Mapping[str, Attribute] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"Graph {self.name!r}"
        node_ids = _distinct(where, "boxes", (node.id for node in self.nodes))
        group_ids = _distinct(where, "groups", (group.id for group in self.groups))
        for edge in self.edges:
            if edge.source not in node_ids or edge.target not in node_ids:
                what = f"edge {edge.source!r} -> {edge.target!r} ends at an unknown box"
                _check_known(where, what, (edge.source, edge.target), node_ids)
        groups_or_none = {"": None, **group_ids}
        for node in self.nodes:
            if node.group not in groups_or_none:
                what = f"box {node.id!r} is in an unknown group"
                _check_known(where, what, (node.group,), groups_or_none)
        outer: dict[str, None] = {"": None}
        for group in self.groups:
            what = f"group {group.id!r} is in an unknown or later group"
            _check_known(where, what, (group.parent,), outer)
            outer[group.id] = None
        _check_attributes(where, self.attrs)
        parts: tuple[GraphNode | GraphEdge | GraphGroup, ...]
        for parts in (self.nodes, self.edges, self.groups):
            for part in parts:
                _check_attributes(where, part.attrs)

    @classmethod
    def trusted(
        cls,
        name: str,
        nodes: tuple[GraphNode, ...],
        edges: tuple[GraphEdge, ...],
        groups: tuple[GraphGroup, ...],
        attrs: Mapping[str, Attribute],
    ) -> Graph:
        """Return a graph without checking its parts, for large graphs made from a checked graph."""
        graph = object.__new__(cls)
        graph.__dict__.update(name=name, nodes=nodes, edges=edges, groups=groups, attrs=attrs)
        return graph

    @classmethod
    def from_edges(
        cls,
        name: str,
        boxes: Iterable[GraphNode | str],
        arrows: Iterable[GraphEdge | tuple[str, str]],
        frames: Iterable[GraphGroup] = (),
        attrs: Mapping[str, Attribute] | None = None,
    ) -> Graph:
        """Return a graph of boxes and arrows; the depths of its boxes are computed from the arrows.

        Parameters
        ----------
        name : str
        boxes : iterable of GraphNode or str
            A string becomes a box of kind "layer" with that name. Depths of boxes are ignored.
        arrows : iterable of GraphEdge or (str, str)
            A pair contains the ids of the source and the target box.
        frames : iterable of GraphGroup
            Outer frames before inner ones. Their depths are ignored.
        attrs : mapping of str to (str, int, float or bool), optional
            Attributes of the whole graph; the default level is "node".

        Returns
        -------
        Graph
            Inside each frame, the depth of a box or frame is the longest path to an item that feeds
            nothing else in that frame. An arrow that enters a frame again after it was left is not
            counted.

        Raises
        ------
        ArgumentError
            As for `Graph`, or the arrows form a cycle.

        Examples
        --------
        >>> arrows = [("a", "b"), ("b", "sum"), ("a", "sum")]
        >>> graph = Graph.from_edges("skip", ["a", "b", "sum"], arrows)
        >>> [(box.id, box.depth) for box in graph.nodes]
        [('a', 2), ('b', 1), ('sum', 0)]
        """
        nodes = [GraphNode(box, box, "layer") if isinstance(box, str) else box for box in boxes]
        edges = tuple(GraphEdge(*one) if isinstance(one, tuple) else one for one in arrows)
        groups = tuple(frames)
        attrs = {"level": "node", **(attrs or {})}
        cls(name, tuple(nodes), edges, groups, attrs)  # raises if the parts are wrong
        depths = _depths(f"Graph {name!r}", nodes, edges, groups)
        nodes = [replace(box, depth=depths[box.id, False]) for box in nodes]
        nodes.sort(key=lambda box: -box.depth)
        deep = tuple(replace(group, depth=depths.get((group.id, True), 0)) for group in groups)
        return cls(name, tuple(nodes), edges, deep, attrs)

    def node(self, node_id: str) -> GraphNode:
        """Return the box with this id.

        Raises
        ------
        ArgumentError
            The graph has no box with this id.
        """
        if node_id not in self._nodes_by_id:
            raise ArgumentError(
                f"Graph {self.name!r}: there is no box {node_id!r}. "
                f"Use one of: {list(self._nodes_by_id)}."
            )
        return self._nodes_by_id[node_id]

    @cached_property
    def _nodes_by_id(self) -> dict[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    def rows(self, group: str = "") -> dict[int, list[GraphNode]]:
        """Return the boxes directly inside a frame, or for "" outside all frames, by depth.

        The deepest come first.
        """
        rows: dict[int, list[GraphNode]] = {}
        for node in self.nodes:
            if node.group == group:
                rows.setdefault(node.depth, []).append(node)
        return dict(sorted(rows.items(), reverse=True))


Item = tuple[str, bool]  # the id of a box or a frame, and whether it is a frame


def _depths(
    where: str, nodes: list[GraphNode], edges: Iterable[GraphEdge], groups: Iterable[GraphGroup]
) -> dict[Item, int]:
    """Return the depth of each box and frame within the frame around it."""
    parents = {group.id: group.parent for group in groups}
    order = _in_order(where, [node.id for node in nodes], edges)
    paths: dict[str, list[Item]] = {}  # the frames around a box, outermost first, and the box
    for node in nodes:
        path: list[Item] = [(node.id, False)]
        group = node.group
        while group:
            path.append((group, True))
            group = parents[group]
        paths[node.id] = path[::-1]
    firsts: dict[Item, int] = {}
    for box in order:
        for item in paths[box]:
            firsts.setdefault(item, len(firsts))
    targets: dict[Item, set[Item]] = {item: set() for item in firsts}
    for edge in edges:
        pairs = zip(paths[edge.source], paths[edge.target], strict=False)
        source, target = next(((a, b) for a, b in pairs if a != b), (None, None))
        if source is not None and target is not None and firsts[source] < firsts[target]:
            targets[source].add(target)
    depths: dict[Item, int] = {}
    for item in sorted(firsts, key=firsts.__getitem__, reverse=True):
        depths[item] = 1 + max((depths[other] for other in targets[item]), default=-1)
    return depths


def _in_order(where: str, ids: list[str], edges: Iterable[GraphEdge]) -> list[str]:
    """Return the boxes in topological order, in their given order where the arrows allow it."""
    readers: dict[str, list[str]] = {one: [] for one in ids}
    missing = dict.fromkeys(ids, 0)
    for edge in edges:
        readers[edge.source].append(edge.target)
        missing[edge.target] += 1
    places = {one: place for place, one in enumerate(ids)}
    ready = [places[one] for one in ids if not missing[one]]
    order: list[str] = []
    while ready:
        order.append(ids[heappop(ready)])
        for reader in readers[order[-1]]:
            missing[reader] -= 1
            if not missing[reader]:
                heappush(ready, places[reader])
    if len(order) < len(ids):
        left = [one for one in ids if missing[one]]
        raise ArgumentError(
            f"{where}: expected arrows without a cycle, got {len(left)} boxes on or after one. "
            f"Give each call of a layer its own box. Boxes: {', '.join(map(repr, left[:5]))}."
        )
    return order


def _distinct(where: str, what: str, ids: Iterable[str]) -> dict[str, None]:
    seen: dict[str, None] = {}
    for one in ids:
        if one in seen:
            raise ArgumentError(f"{where}: expected {what} with distinct ids, got {one!r} twice.")
        seen[one] = None
    return seen


def _check_known(where: str, what: str, ids: Iterable[str], known: Mapping[str, None]) -> None:
    for one in ids:
        if one not in known:
            raise ArgumentError(f"{where}: {what} {one!r}. Use one of: {list(known)}.")


def _check_attributes(where: str, attrs: Mapping[str, Attribute]) -> None:
    if _PLAIN.issuperset(map(type, attrs.values())):
        return
    for key, value in attrs.items():
        if type(value) not in _PLAIN:
            raise DtypeError(
                f"{where}: attribute {key!r}: expected str, int, float or bool, got {value!r}."
            )

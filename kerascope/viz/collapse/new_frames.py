"""Adding frames to a graph: their contents, and the new depths of all boxes.

Name scopes are the simplest kind of frame: layers named "encoder/dense" and "encoder/norm" belong
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kerascope.engine.node_ids import free_id
from kerascope.viz.graph import Attribute, Graph, GraphGroup, GraphNode
from kerascope.viz.nesting import FrameLevel, FreeIds, Link, below, items_of, levels_of, on_circles

# --- name scopes ----------------------------------------------------------------------------------


def with_scopes(graph: Graph) -> Graph:
    """Return the graph with a frame for each name scope of at least two boxes.

    A scope is the part of a name before a "/". If two scopes feed each other in both directions,
    neither can be drawn above the other, and neither becomes a frame.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> names = ("x", "head/a", "head/b")
    >>> graph = Graph("g", tuple(GraphNode(name, name, "op") for name in names), ())
    >>> [(group.id, group.attrs["kind"]) for group in with_scopes(graph).groups]
    [('head', 'scope')]
    """
    labels = {part.id: part.label for part in items_of(graph)}
    if not any("/" in label for label in labels.values()):
        return graph
    depths = {part.id: part.depth for part in items_of(graph)}
    ids = FreeIds(labels)
    frames: dict[str, GraphGroup] = {}
    holder: dict[str, str] = {}
    waiting = [(level, 0, level.group) for level in levels_of(graph).values()]
    while waiting:
        level, words, around = waiting.pop()
        for scope, children in _scopes(level, labels, words).items():
            start = f"{level.group}/" if level.group in labels else ""
            frame_id = ids.take(start + scope)
            depth = max(depths[child] for child in children)
            frames[frame_id] = GraphGroup(
                frame_id, scope.rpartition("/")[2], around, depth, {"kind": "scope"}
            )
            holder |= dict.fromkeys(children, frame_id)
            inside = dict.fromkeys(children)
            links = [one for one in level.links if one.source in inside and one.target in inside]
            waiting.append((FrameLevel(level.group, children, links), words + 1, frame_id))
    nodes = tuple(replace(node, group=holder.get(node.id, node.group)) for node in graph.nodes)
    groups = {
        group.id: replace(group, parent=holder.get(group.id, group.parent))
        for group in graph.groups
    }
    return replace(graph, nodes=nodes, groups=outer_first({**groups, **frames}))


def outer_first(groups: dict[str, GraphGroup]) -> tuple[GraphGroup, ...]:
    """Return frames in an order in which outer frames come before inner frames."""
    placed: dict[str, GraphGroup] = {}
    for group in groups.values():
        around = []
        while group.id not in placed and group not in around:
            around.append(group)
            group = groups.get(group.parent, group)
        placed.update((one.id, one) for one in reversed(around))
    return tuple(placed.values())


def _scopes(level: FrameLevel, labels: dict[str, str], words: int) -> dict[str, list[str]]:
    """Return, for each name scope that can become a frame, its children in a frame level."""
    scopes: dict[str, list[str]] = {}
    for child in level.children:
        parts = labels[child].split("/")
        if len(parts) > words + 1 and all(parts[: words + 1]):
            scopes.setdefault("/".join(parts[: words + 1]), []).append(child)
    inner = words > 0  # a scope with the same children as its parent adds nothing
    scopes = {
        scope: children
        for scope, children in scopes.items()
        if len(children) >= 2 and not (inner and len(children) == len(level.children))
    }
    tangled = _tangled(level, scopes)
    return {scope: children for scope, children in scopes.items() if scope not in tangled}


def _tangled(level: FrameLevel, scopes: dict[str, list[str]]) -> dict[str, None]:
    """Return the scopes that would be on a cycle of arrows if each scope were one item."""
    scope_of = {child: scope for scope, children in scopes.items() for child in children}

    def whole(child: str) -> tuple[bool, str]:
        return (True, scope_of[child]) if child in scope_of else (False, child)

    arrows = [(whole(link.source), whole(link.target)) for link in level.flow()]
    if not scopes:
        return {}
    return dict.fromkeys(name for is_scope, name in on_circles(arrows) if is_scope)


# --- new frames -----------------------------------------------------------------------------------


class NewFrames:
    """Collects new frames for a graph.

    Attributes
    ----------
    groups : dict of str to GraphGroup
        The existing frames of the graph.
    new : dict of str to GraphGroup
        The new frames.
    holder : dict of str to str
        The new frame directly around a box or frame.
    depths, lasts : dict of str to int
        Depths of the first and the last row of every box and frame.
    labels : dict of str to str
        The name of every box and frame.
    sizes : dict of str to int
        The number of boxes in every frame.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.groups = {group.id: group for group in graph.groups}
        self.new: dict[str, GraphGroup] = {}
        self.holder: dict[str, str] = {}
        self.depths = {node.id: node.depth for node in graph.nodes}
        self.labels = {node.id: node.label for node in graph.nodes}
        for group in graph.groups:
            self.depths[group.id], self.labels[group.id] = group.depth, group.label
        self.lasts: dict[str, int] = {}
        self.taken = dict.fromkeys(self.labels)
        self.sizes = dict.fromkeys(self.groups, 0)
        for node in graph.nodes:
            if node.group:
                self.sizes[node.group] += 1
        for group in reversed(graph.groups):
            if group.parent:
                self.sizes[group.parent] += self.sizes[group.id]

    def add(
        self,
        level: str,
        wanted: str,
        label: str,
        children: Sequence[str],
        attrs: Mapping[str, Attribute],
    ) -> str:
        """Add a frame around the given children of a frame level and return the frame's id."""
        call = level
        while call and self._around(call).attrs.get("kind", "call") != "call":
            call = self._around(call).parent
        frame = free_id(below(call, wanted), self.taken)
        self.taken[frame] = None
        depths, lasts, sizes = self.depths, self.lasts, self.sizes
        depth = max([depths[child] for child in children])
        last = min([lasts[child] if child in lasts else depths[child] for child in children])
        self.new[frame] = GraphGroup(frame, label, level, depth, {**attrs, "depth_last": last})
        depths[frame], lasts[frame], self.labels[frame] = depth, last, label
        sizes[frame] = sum([sizes.get(child, 1) for child in children])
        for child in children:
            self.holder[child] = frame
        return frame

    def _around(self, frame: str) -> GraphGroup:
        return self.new[frame] if frame in self.new else self.groups[frame]

    def levels(self, before: Mapping[str, FrameLevel]) -> dict[str, FrameLevel]:
        """Return the frame levels after adding the new frames to the given ones."""
        after: dict[str, FrameLevel] = {}
        for group, level in before.items():
            if not any(child in self.holder for child in level.children):
                after[group] = level
                continue
            paths = {child: self._path(child, group) for child in level.children}
            after[group] = FrameLevel(group)
            for child, path in paths.items():
                for frame in path[1:]:
                    if frame not in after:
                        after[frame] = FrameLevel(frame)
                        after[self.holder.get(frame, group)].children.append(frame)
                after[path[-1]].children.append(child)
            for link in level.links:
                self._add_link(link, paths, after)
        return after

    def _path(self, child: str, group: str) -> tuple[str, ...]:
        """Return the frames around a child: its existing frame, then the new ones, outer first."""
        path = []
        while child in self.holder:
            child = self.holder[child]
            path.append(child)
        return (group, *reversed(path))

    def _add_link(
        self, link: Link, paths: Mapping[str, tuple[str, ...]], after: dict[str, FrameLevel]
    ) -> None:
        source, target, edge = link
        one, other = paths[source], paths[target]
        if one[-1] == other[-1]:
            after[one[-1]].links.append(link)
            return
        shared = 1
        while one[shared : shared + 1] == other[shared : shared + 1]:
            shared += 1
        if len(one) > shared:
            source = one[shared]
        if len(other) > shared:
            target = other[shared]
        after[one[shared - 1]].links.append(Link(source, target, edge))

    # --- the graph with the new frames ------------------------------------------------------------

    def result(self, levels: Mapping[str, FrameLevel]) -> Graph:
        """Return the graph with the new frames, and with depths at which it can be drawn.

        Parameters
        ----------
        levels : dict of str to Level
            All frame levels, including those of the new frames.
        """
        graph = self.graph
        groups = {**self.groups, **self.new}
        made = {
            **self.new,
            **{name: one for name, one in self.groups.items() if one.attrs.get("kind") == "scope"},
        }
        depths = dict(self.depths)
        for level in levels.values():
            if level.group in made or any(child in made for child in level.children):
                depths.update(self._depths_in(level, made))
        holder = self.holder
        nodes = tuple(
            [
                GraphNode(
                    one.id, one.label, one.kind, holder.get(one.id, one.group), depths[one.id],
                    one.attrs,
                )
                if one.id in holder or depths[one.id] != one.depth
                else one
                for one in graph.nodes
            ]
        )  # fmt: skip
        for name, group in groups.items():
            around = holder.get(name, group.parent)
            if around != group.parent or depths[name] != group.depth:
                groups[name] = GraphGroup(name, group.label, around, depths[name], group.attrs)
        return Graph.trusted(graph.name, nodes, graph.edges, outer_first(groups), graph.attrs)

    def _depths_in(self, level: FrameLevel, made: Mapping[str, GraphGroup]) -> dict[str, int]:
        """Return new depths for the children of a frame level: sources are deeper than targets."""
        flow = level.flow()
        order = level.sorted_by(flow)
        if order is None:
            return {}
        before = self.depths
        least = {child: before[child] for child in order}
        is_new = level.group in made
        if is_new:
            keeps_rows = made[level.group].attrs["kind"] == "rows"
            lowest = min(least.values())
            least = {child: before[child] - lowest if keeps_rows else 0 for child in order}
        position = {child: number for number, child in enumerate(order)}
        for source, target, _ in sorted(flow, key=lambda link: -position[link[0]]):
            if least[target] < least[source]:
                continue
            in_a_row = before[source] == before[target] and least[source] == least[target]
            if in_a_row and not is_new and source not in made and target not in made:
                continue  # these children stay in the same row
            least[source] = least[target] + 1
        return least

"""Name scopes: layers that are called "encoder/dense" and "encoder/norm" belong together."""

from __future__ import annotations

from dataclasses import replace

from kerascope.engine.node_ids import free_id
from kerascope.viz.collapse.levels import Level, levels_of, nodes_and_groups
from kerascope.viz.graph import Graph, GraphGroup


def with_scopes(graph: Graph) -> Graph:
    """Return the graph with a frame for every name scope of at least two boxes.

    A scope is the part of a name before a "/". Where two scopes feed each other in both directions,
    no picture could show one above the other, and neither becomes a frame.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> names = ("x", "head/a", "head/b")
    >>> graph = Graph("g", tuple(GraphNode(name, name, "op") for name in names), ())
    >>> [(group.id, group.attrs["kind"]) for group in with_scopes(graph).groups]
    [('head', 'scope')]
    """
    labels = {part.id: part.label for part in nodes_and_groups(graph)}
    if not any("/" in label for label in labels.values()):
        return graph
    depths = {part.id: part.depth for part in nodes_and_groups(graph)}
    taken = dict.fromkeys(labels)
    frames: dict[str, GraphGroup] = {}
    holder: dict[str, str] = {}
    waiting = [(level, 0, level.group) for level in levels_of(graph).values()]
    while waiting:
        level, words, around = waiting.pop()
        for scope, children in _scopes(level, labels, words).items():
            start = f"{level.group}/" if level.group in labels else ""
            frame_id = free_id(start + scope, taken)
            taken[frame_id] = None
            depth = max(depths[child] for child in children)
            frames[frame_id] = GraphGroup(
                frame_id, scope.rpartition("/")[2], around, depth, {"kind": "scope"}
            )
            holder |= dict.fromkeys(children, frame_id)
            inside = dict.fromkeys(children)
            links = [one for one in level.links if one.source in inside and one.target in inside]
            waiting.append((Level(level.group, children, links), words + 1, frame_id))
    nodes = tuple(replace(node, group=holder.get(node.id, node.group)) for node in graph.nodes)
    groups = {
        group.id: replace(group, parent=holder.get(group.id, group.parent))
        for group in graph.groups
    }
    return replace(graph, nodes=nodes, groups=outer_first({**groups, **frames}))


def outer_first(groups: dict[str, GraphGroup]) -> tuple[GraphGroup, ...]:
    """Return frames in an order in which each comes behind the frame around it."""
    placed: dict[str, GraphGroup] = {}
    for group in groups.values():
        around = []
        while group.id not in placed and group not in around:
            around.append(group)
            group = groups.get(group.parent, group)
        placed.update((one.id, one) for one in reversed(around))
    return tuple(placed.values())


def _scopes(level: Level, labels: dict[str, str], words: int) -> dict[str, list[str]]:
    """Return the children of each scope that may become a frame."""
    scopes: dict[str, list[str]] = {}
    for child in level.children:
        parts = labels[child].split("/")
        if len(parts) > words + 1 and all(parts[: words + 1]):
            scopes.setdefault("/".join(parts[: words + 1]), []).append(child)
    inner = words > 0  # a scope that is all of the scope around it says nothing new
    scopes = {
        scope: children
        for scope, children in scopes.items()
        if len(children) >= 2 and not (inner and len(children) == len(level.children))
    }
    tangled = _tangled(level, scopes)
    return {scope: children for scope, children in scopes.items() if scope not in tangled}


def _tangled(level: Level, scopes: dict[str, list[str]]) -> dict[str, None]:
    """Return the scopes that lie on a circle once each is one thing."""
    scope_of = {child: scope for scope, children in scopes.items() for child in children}

    def whole(child: str) -> tuple[bool, str]:
        return (True, scope_of[child]) if child in scope_of else (False, child)

    arrows = [(whole(link.source), whole(link.target)) for link in level.flow()]
    if not scopes:
        return {}
    import networkx

    circles = networkx.strongly_connected_components(networkx.DiGraph(arrows))
    on_circles = [thing for circle in circles if len(circle) > 1 for thing in circle]
    return dict.fromkeys(name for is_scope, name in on_circles if is_scope)

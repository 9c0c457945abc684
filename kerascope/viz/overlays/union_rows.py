"""Rows for a graph that was put together from two: arrows go downwards wherever they can.

Each of the two graphs runs downwards by itself; both together may hold a cycle, as when two layers
have changed places. Then the arrows of the new graph go down, and one that was removed goes up.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heappush

from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.nesting import Chain, chains_of, shared_length

Links = dict[str, list[str]]


def with_rows(graph: Graph) -> Graph:
    """Return the graph with the depths of its boxes and frames lifted until arrows go downwards.

    The depth is the longest path to an end, within the frame that a box lies in; a box keeps at
    least the depth that it has. Boxes are put in the order in which they are drawn, deepest first.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> boxes = [GraphNode(name, name, "dense") for name in "abc"]
    >>> edges = [GraphEdge("a", "b"), GraphEdge("b", "c")]
    >>> [(box.id, box.depth) for box in with_rows(Graph("g", tuple(boxes), tuple(edges))).nodes]
    [('a', 2), ('b', 1), ('c', 0)]
    """
    depths = {f"box {node.id}": node.depth for node in graph.nodes}
    depths |= {f"frame {group.id}": group.depth for group in graph.groups}
    parts = list(depths)
    kept, removed = _links_between_parts(graph, parts)
    order = _downwards(parts, kept, removed)
    place = {part: i for i, part in enumerate(order)}
    for part in reversed(order):
        for target in (*kept[part], *removed[part]):
            if place[part] < place[target]:
                depths[part] = max(depths[part], depths[target] + 1)
    nodes = [
        GraphNode(node.id, node.label, node.kind, node.group, depth, node.attrs)
        for node in graph.nodes
        for depth in (depths[f"box {node.id}"],)
    ]
    nodes.sort(key=lambda node: (-node.depth, place[f"box {node.id}"]))
    groups = [replace(group, depth=depths[f"frame {group.id}"]) for group in graph.groups]
    return Graph.trusted(graph.name, tuple(nodes), graph.edges, tuple(groups), graph.attrs)


def _links_between_parts(graph: Graph, parts: list[str]) -> tuple[Links, Links]:
    """Return the arrows that stayed and those that were removed, lifted to one frame.

    An arrow into a frame from outside is one to the frame itself, as seen from outside.
    """
    chains = chains_of(graph.groups)
    homes = {node.id: node.group for node in graph.nodes}
    kept: Links = {part: [] for part in parts}
    removed: Links = {part: [] for part in parts}
    for edge in graph.edges:
        source, target = _ends_in_one_frame(edge, homes, chains)
        if source != target:
            links = removed if edge.attrs.get("state") == "removed" else kept
            links[source].append(target)
    return kept, removed


def _ends_in_one_frame(
    edge: GraphEdge, homes: dict[str, str], chains: dict[str, Chain]
) -> tuple[str, str]:
    around = chains[homes[edge.source]], chains[homes[edge.target]]
    if around[0] is around[1]:
        return f"box {edge.source}", f"box {edge.target}"
    common = shared_length(*around)
    source, target = (
        f"frame {chain[common]}" if common < len(chain) else f"box {name}"
        for chain, name in zip(around, (edge.source, edge.target), strict=True)
    )
    return source, target


def _downwards(parts: list[str], kept: Links, removed: Links) -> list[str]:
    """Return the parts in an order in which arrows go forward; removed ones give way in a cycle."""
    before = {part: i for i, part in enumerate(parts)}
    waiting_all, waiting_kept = dict.fromkeys(parts, 0), dict.fromkeys(parts, 0)
    for part in parts:
        for target in kept[part]:
            waiting_all[target] += 1
            waiting_kept[target] += 1
        for target in removed[part]:
            waiting_all[target] += 1
    ready = [before[part] for part in parts if not waiting_all[part]]
    heapify(ready)
    second_best = [before[part] for part in parts if not waiting_kept[part]]
    heapify(second_best)
    rest = iter(parts)
    done: dict[str, None] = {}
    while len(done) < len(parts):
        if ready:
            part = parts[heappop(ready)]
        elif second_best:
            part = parts[heappop(second_best)]
        else:
            part = next(x for x in rest if x not in done)
        if part in done:
            continue
        done[part] = None
        for target in kept[part]:
            waiting_all[target] -= 1
            waiting_kept[target] -= 1
            if not waiting_kept[target]:
                heappush(second_best, before[target])
            if not waiting_all[target]:
                heappush(ready, before[target])
        for target in removed[part]:
            waiting_all[target] -= 1
            if not waiting_all[target]:
                heappush(ready, before[target])
    return list(done)

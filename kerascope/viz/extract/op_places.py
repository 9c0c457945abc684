"""Where the boxes of an op graph stand: their ids, their frames and their depths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from kerascope.engine.node_ids import clean, free_id
from kerascope.viz.depths import longest_paths
from kerascope.viz.graph import GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import Chain, chains_of, shared_length


class FreeIds:
    """The ids that are taken; gives the ids of `free_id`, also 10,000 of one name, at once."""

    def __init__(self) -> None:
        self._taken: dict[str, None] = {}
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return a free id and remember it.

        Examples
        --------
        >>> ids = FreeIds()
        >>> [ids.take("add") for _ in range(3)]
        ['add', 'add~2', 'add~3']
        """
        wanted = clean(wanted)
        if wanted not in self._taken:
            found = wanted
        elif wanted not in self._last:
            found = free_id(wanted, self._taken)
            self._last[wanted] = int(found.rpartition("~")[2])
        else:
            number = self._last[wanted] + 1
            while f"{wanted}~{number}" in self._taken:
                number += 1
            self._last[wanted] = number
            found = f"{wanted}~{number}"
        self._taken[found] = None
        return found


def placed(
    boxes: Mapping[str, GraphNode],
    groups: Mapping[str, GraphGroup],
    edges: Sequence[GraphEdge],
    free: Iterable[str],
) -> tuple[list[GraphNode], list[GraphGroup]]:
    """Return the boxes and groups at their depths, deepest first.

    Parameters
    ----------
    boxes, groups : dict of id to GraphNode or GraphGroup
    edges : list of GraphEdge
        Those with a role lead back and say nothing about depth.
    free : iterable of str
        Boxes that come into the innermost group around all boxes that they are connected with. A
        box that a loop takes something in by counts as one around the loop.
    """
    paths = chains_of(groups.values())
    place = {box.id: box.group for box in boxes.values()}
    ends = dict(place)
    for box in boxes.values():
        if is_stand_in(box):
            ends[box.id] = groups[box.group].parent
    place.update(_innermost(free, ends, paths, edges))
    depths = longest_paths([*boxes, *groups], _arrows_among_brothers(place, paths, edges))
    _lower_unused(boxes, place | {one.id: one.parent for one in groups.values()}, edges, depths)
    children: dict[str, list[str]] = {}
    for group in groups.values():
        children.setdefault(group.parent, []).append(group.id)
    for box_id, parent in place.items():
        children.setdefault(parent, []).append(box_id)
    ordered_boxes, ordered_groups = [], []
    waiting = [""]
    while waiting:
        one = waiting.pop()
        if one in boxes:
            box = dataclasses.replace(boxes[one], group=place[one], depth=depths[one])
            ordered_boxes.append(box)
            continue
        if one:
            ordered_groups.append(dataclasses.replace(groups[one], depth=depths[one]))
        deepest_first = sorted(children.get(one, []), key=lambda child: -depths[child])
        waiting.extend(reversed(deepest_first))
    return ordered_boxes, ordered_groups


def is_stand_in(box: GraphNode) -> bool:
    """Tell whether a box stands inside a loop for something outside."""
    return box.kind == "placeholder" and box.attrs["input_count"] == 1


def _innermost(
    free: Iterable[str],
    place: Mapping[str, str],
    paths: Mapping[str, Chain],
    edges: Sequence[GraphEdge],
) -> dict[str, str]:
    """Return the group of each box that is free to choose."""
    around: dict[str, Chain | None] = dict.fromkeys(free)
    for edge in edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in around and other not in around:
                path, before = paths[place[other]], around[one]
                around[one] = path if before is None else path[: shared_length(before, path)]
    return {one: path[-1] for one, path in around.items() if path is not None}


def _arrows_among_brothers(
    place: Mapping[str, str], paths: Mapping[str, Chain], edges: Sequence[GraphEdge]
) -> list[tuple[str, str]]:
    """Return which boxes and groups need which of their brothers, themselves or inside."""
    arrows: dict[tuple[str, str], None] = {}
    for edge in edges:
        if "role" in edge.attrs:
            continue
        source = (*paths[place[edge.source]], edge.source)
        target = (*paths[place[edge.target]], edge.target)
        level = shared_length(source, target)
        arrows[source[level], target[level]] = None
    return list(arrows)


def _lower_unused(
    boxes: Mapping[str, GraphNode],
    place: Mapping[str, str],
    edges: Sequence[GraphEdge],
    depths: dict[str, int],
) -> None:
    """Put what is given, and not used, beside the deepest boxes around it."""
    used = {edge.source for edge in edges if "role" not in edge.attrs}
    deepest: dict[str, int] = {}
    for one, group in place.items():
        deepest[group] = max(deepest.get(group, 0), depths[one])
    for box in boxes.values():
        is_given = box.kind in ("placeholder", "variable", "constant")
        if is_given and box.id not in used and not box.attrs["outputs"]:
            depths[box.id] = deepest[place[box.id]]

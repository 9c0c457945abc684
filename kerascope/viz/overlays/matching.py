"""Which box of one graph is which box of another: what a comparison of two models begins with.

First by id, where a person gave the name. Then by structure, first of all boxes of one class and
shape for which all that leads to them, or all that follows, is the same: a model that was built
twice, and whose layers count on (`dense_1` is now `dense_4`), is found to be the same. Then by the
ids that were only counted, and at last box by box, from matched neighbours on: so a layer that was
renamed, or has other units, is not one removed and one added.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Hashable, Mapping

from kerascope.engine.base_layer import snake_case
from kerascope.viz.graph import Graph, GraphGroup, GraphNode

Pairs = dict[str, str]
Links = Mapping[str, list[tuple[int, str]]]

_COUNT = re.compile(r"(_\d+)?(@\d+)?$")


def matched_boxes(before: Graph, after: Graph) -> Pairs:
    """Return which box of `after` each box of `before` has become, by ids.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge
    >>> def chain(*names):
    ...     boxes = [GraphNode(name, name, "dense") for name in names]
    ...     return Graph("c", tuple(boxes), tuple(map(GraphEdge, names, names[1:])))
    >>> matched_boxes(chain("x", "old", "y"), chain("x", "new", "y"))
    {'x': 'x', 'y': 'y', 'old': 'new'}
    """
    sides = _Side(before), _Side(after)
    pairs: Pairs = {}
    _match_ids(*sides, pairs, counted=False)
    if len(pairs) < min(len(before.nodes), len(after.nodes)):
        _match_whole_surroundings(*sides, pairs)
    _match_ids(*sides, pairs, counted=True)
    for with_shape in (True, False):
        for all_agree in (True, False):
            if len(pairs) == min(len(before.nodes), len(after.nodes)):
                return pairs
            _match_neighbours(*sides, pairs, with_shape, all_agree)
    return pairs


def matched_groups(before: Graph, after: Graph, boxes: Pairs) -> Pairs:
    """Return which frame of `after` each frame of `before` has become: by id, or by what it holds.

    A frame whose boxes have all become boxes of one other frame has become that frame.
    """
    after_ids = dict.fromkeys(group.id for group in after.groups)
    pairs = {group.id: group.id for group in before.groups if group.id in after_ids}
    group_of = {node.id: node.group for node in after.nodes}
    homes: dict[str, dict[str, None]] = {}
    for node in before.nodes:
        if node.id in boxes:
            homes.setdefault(node.group, {})[group_of[boxes[node.id]]] = None
    taken = dict.fromkeys(pairs.values())
    for group in before.groups:
        found = list(homes.get(group.id, {}))
        if group.id not in pairs and len(found) == 1 and found[0] and found[0] not in taken:
            pairs[group.id] = found[0]
            taken[found[0]] = None
    return pairs


def has_counted_name(item: GraphNode | GraphGroup) -> bool:
    """Tell whether a name was made from the class and a count, as `dense_1` is.

    Examples
    --------
    >>> [has_counted_name(GraphNode(name, name, "dense", attrs={"class_name": "Dense"}))
    ...  for name in ("dense_12", "dense", "densely")]
    [True, True, False]
    """
    stem = _COUNT.sub("", item.label)
    class_name = str(item.attrs.get("class_name", "")).rpartition(" ")[2]
    if class_name == "InputLayer":
        return stem in ("input", "input_layer") or stem.endswith("_input")
    return bool(class_name) and stem == snake_case(class_name)


class _Side:
    """One of the graphs, with what leads to each box and away from it."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.sources: dict[str, list[tuple[int, str]]] = {node.id: [] for node in graph.nodes}
        self.targets: dict[str, list[tuple[int, str]]] = {node.id: [] for node in graph.nodes}
        self._frames = {"": 0}  # how many frames are around what lies in a group
        for group in graph.groups:
            self._frames[group.id] = self._frames[group.parent] + 1
        for edge in graph.edges:
            operand = int(edge.attrs.get("operand", 0))
            self.sources[edge.target].append((operand, edge.source))
            self.targets[edge.source].append((operand, edge.target))

    def look(self, name: str, with_shape: bool = True) -> Hashable:
        """Return what a box must share with another to be matched by structure."""
        node = self.nodes[name]
        shape = node.attrs.get("output_shapes", "") if with_shape else ""
        return node.kind, node.attrs.get("class_name", ""), self._frames[node.group], shape


def _match_ids(before: _Side, after: _Side, pairs: Pairs, *, counted: bool) -> None:
    taken = dict.fromkeys(pairs.values())
    for name, node in before.nodes.items():
        if name in pairs or name in taken or name not in after.nodes:
            continue
        if has_counted_name(node) == counted:
            pairs[name] = name


# --- all that leads to it, or follows, is the same ------------------------------------------------


def _match_whole_surroundings(before: _Side, after: _Side, pairs: Pairs) -> None:
    same = {old: old for old in pairs}
    back = {new: old for old, new in pairs.items()}
    numbers: dict[Hashable, int] = {}
    sides = ((before, same), (after, back))
    histories = [
        [_histories(side, links, known, numbers) for links in (side.sources, side.targets)]
        for side, known in sides
    ]
    for directions in ((0, 1), (0,), (1,)):
        keys = [
            {name: tuple(found[i][name] for i in directions) for name in side.nodes}
            for (side, _), found in zip(sides, histories, strict=True)
        ]
        _pair_up(keys[0], keys[1], pairs)


def _histories(
    side: _Side, links: Links, known: Mapping[str, str], numbers: dict[Hashable, int]
) -> dict[str, int]:
    """Return a number for each box that stands for it and all that can be reached by the links.

    Two boxes, of either graph, get the same number if all this is the same. One that is matched
    already stands for itself.
    """
    found: dict[str, int] = {}
    for start in side.nodes:
        stack, met = [start], {start: None}
        while stack:
            name = stack[-1]
            reached = [] if name in known else links[name]
            waiting = [x for _, x in reached if x not in found and x not in met]
            if waiting:
                stack.extend(waiting)
                met.update(dict.fromkeys(waiting))
                continue
            stack.pop()
            if name not in found:
                past = sorted((operand, found.get(x, -1)) for operand, x in reached)
                key = ("matched", known[name]) if name in known else (side.look(name), *past)
                found[name] = numbers.setdefault(key, len(numbers))
    return found


def _pair_up(before: Mapping[str, Hashable], after: Mapping[str, Hashable], pairs: Pairs) -> None:
    """Match the boxes that are left over and have the same key, in their order."""
    taken = dict.fromkeys(pairs.values())
    free: dict[Hashable, list[str]] = {}
    for name, key in after.items():
        if name not in taken:
            free.setdefault(key, []).append(name)
    waiting: dict[Hashable, list[str]] = {}
    for name, key in before.items():
        if name not in pairs:
            waiting.setdefault(key, []).append(name)
    for key, names in waiting.items():
        pairs.update(zip(names, free.get(key, []), strict=False))


# --- from matched neighbours on -------------------------------------------------------------------


def _match_neighbours(
    before: _Side, after: _Side, pairs: Pairs, with_shape: bool, all_agree: bool
) -> None:
    """Go from every matched pair to the boxes beside it, and from those that match on again."""
    same = {old: old for old in pairs}
    back = {new: old for old, new in pairs.items()}
    queue = deque(pairs.items())
    while queue:
        old, new = queue.popleft()
        for links_before, links_after in (
            (before.sources, after.sources),
            (before.targets, after.targets),
        ):
            keys_before = {
                name: (operand, before.look(name, with_shape))
                for operand, name in links_before[old]
                if name not in pairs
            }
            if not keys_before:
                continue
            keys_after = {
                name: (operand, after.look(name, with_shape))
                for operand, name in links_after[new]
                if name not in back
            }
            found: Pairs = {}
            if all_agree:
                _pair_up(
                    {x: (key, _neighbours(before, x, same)) for x, key in keys_before.items()},
                    {x: (key, _neighbours(after, x, back)) for x, key in keys_after.items()},
                    found,
                )
            else:
                _pair_up(keys_before, keys_after, found)
            pairs.update(found)
            same.update((old_one, old_one) for old_one in found)
            back.update((new_one, old_one) for old_one, new_one in found.items())
            queue.extend(found.items())


def _neighbours(side: _Side, name: str, known: Mapping[str, str]) -> Hashable:
    """Return the matched neighbours of a box, by their ids in the first graph."""
    return tuple(
        tuple(sorted((operand, known[x]) for operand, x in links[name] if x in known))
        for links in (side.sources, side.targets)
    )

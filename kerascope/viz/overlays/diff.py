"""Differences between two graphs or two states of a model: `draw(model, diff=before)`.

`diff(before, after)` draws every box and arrow of both graphs once. `matched_boxes` finds the boxes
that correspond, changed boxes list their differences, and `with_rows` arranges all boxes in rows.
`diff_lines` returns the differences as text for a terminal.

Between two epochs, only the weights change. Then the picture shows for each layer how much its
weights changed. It needs only the list of arrays from `model.get_weights()`, saved before.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from kerascope.engine.base_layer import snake_case
from kerascope.engine.network import Network
from kerascope.engine.node_ids import free_id
from kerascope.errors import ArgumentError, DtypeError
from kerascope.trace.records import counted
from kerascope.trace.statistics import norm_of
from kerascope.viz.boxes import caption_with
from kerascope.viz.extract.networks import layers_by_path
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import Chain, chains_of, items_of, nesting_of, shared_length
from kerascope.viz.overlays import marking
from kerascope.viz.theme import STATES

LONGEST_NOTE = 48
# Compared attributes, and how a note names them; "" leaves the name out.
COMPARED = {
    "class_name": "class",
    "output_shapes": "",
    "activation": "activation",
    "parameters": "params",
    "trainable": "trainable",
    "dtype": "dtype",
    "calls": "calls",
    "outputs": "outputs",
    "value": "value",
}


def diff(before: Graph, after: Graph) -> Graph:
    """Return one graph that combines both graphs, with the differences marked.

    Parameters
    ----------
    before, after : Graph
        Two graphs of the same level.

    Returns
    -------
    Graph
        Boxes, frames and arrows have the state "added", "removed" or "changed"; unchanged items
        have no state. A changed box has a short `note`, and the full list of differences in
        `changes`. If the note is cut short, `detail` has the list line by line. `id_before` is the
        old id if the id changed. The graph's attributes `added`, `removed`, `changed` and `same`
        count the boxes.

    Raises
    ------
    DtypeError
        `before` or `after` is not a Graph.
    ArgumentError
        The graphs have different levels.

    Notes
    -----
    A layer whose generated name has another number (`dense_1`, now `dense_4`) is not a change.

    Examples
    --------
    >>> def boxes(*units):
    ...     shapes = [{"output_shapes": f"(None, {u})"} for u in units]
    ...     names = "abc"[: len(units)]
    ...     nodes = [GraphNode(n, n, "dense", attrs=s) for n, s in zip(names, shapes, strict=True)]
    ...     return Graph("small", tuple(nodes), ())
    >>> both = diff(boxes(4, 2), boxes(8, 2, 1))
    >>> both.attrs["caption"], both.node("a").attrs["note"]
    ('1 added, 0 removed, 1 changed, 1 same', '(None, 4) → (None, 8)')
    """
    for graph in (before, after):
        if not isinstance(graph, Graph):
            raise DtypeError(f"diff: expected two Graphs, got {type(graph).__name__}.")
    levels = [str(graph.attrs.get("level", "")) for graph in (before, after)]
    if levels[0] != levels[1]:
        raise ArgumentError(
            f"diff: expected two graphs of the same level, got {levels[0]!r} and {levels[1]!r}."
        )
    boxes = matched_boxes(before, after)
    union = _Union(before, after, boxes, matched_groups(before, after, boxes))
    nodes, groups, edges = union.nodes(), union.all_groups(), union.edges()
    counts = _counts(nodes)
    caption = ", ".join(f"{count} {what}" for what, count in counts.items())
    for word, items in (("Frames", groups), ("Arrows", edges)):
        found = [f"{n} {what}" for what, n in _counts(items).items() if n and what != "same"]
        caption += f". {word}: {', '.join(found)}" if found else ""
    name = after.name if before.name == after.name else f"{before.name} → {after.name}"
    attrs: dict[str, Attribute] = {**after.attrs, **counts, "caption": caption}
    return with_rows(Graph(name, tuple(nodes), tuple(edges), tuple(groups), attrs))


def _counts(items: Sequence[GraphNode | GraphGroup | GraphEdge]) -> dict[str, int]:
    counts = dict.fromkeys(("added", "removed", "changed", "same"), 0)
    for item in items:
        counts[str(item.attrs.get("state", "same"))] += 1
    return counts


# --- the union ------------------------------------------------------------------------------------


@dataclass
class _Union:
    """Builds the combined graph: all items of `after`, and then those that only `before` contains.

    Parameters
    ----------
    before, after : Graph
    boxes, groups : dict of str to str
        The counterpart in `after` of each box and frame of `before`.
    """

    before: Graph
    after: Graph
    boxes: Pairs
    groups: Pairs

    def __post_init__(self) -> None:
        taken = dict.fromkeys(item.id for item in items_of(self.after))
        self.new_ids: dict[str, str] = {}  # by ids of `before`
        self.new_groups: dict[str, str] = {"": ""}
        for items, pairs, ids in (
            (self.before.nodes, self.boxes, self.new_ids),
            (self.before.groups, self.groups, self.new_groups),
        ):
            for item in items:
                ids[item.id] = pairs[item.id] if item.id in pairs else free_id(item.id, taken)
                taken[ids[item.id]] = None

    def nodes(self) -> list[GraphNode]:
        """Return the boxes of both graphs, each with its state."""
        old = {node.id: node for node in self.before.nodes}
        before = {new: old[name] for name, new in self.boxes.items()}
        nodes = [_compared(before.get(node.id), node) for node in self.after.nodes]
        for node in self.before.nodes:
            if node.id not in self.boxes:
                group, attrs = (
                    self.new_groups[node.group],
                    {**_plain(node), **marking.mark("removed")},
                )
                box_id = self.new_ids[node.id]
                nodes.append(GraphNode(box_id, node.label, node.kind, group, 0, attrs))
        return nodes

    def all_groups(self) -> list[GraphGroup]:
        """Return the frames of both graphs, each with its state."""
        old = {group.id: group for group in self.before.groups}
        before = {new: old[name] for name, new in self.groups.items()}
        groups = [_compared_group(before.get(group.id), group) for group in self.after.groups]
        for group in self.before.groups:
            if group.id not in self.groups:
                ids = self.new_groups[group.id], self.new_groups[group.parent]
                attrs = {**group.attrs, **marking.mark("removed")}
                groups.append(replace(group, id=ids[0], parent=ids[1], depth=0, attrs=attrs))
        return groups

    def edges(self) -> list[GraphEdge]:
        """Return the arrows of both graphs. An arrow that is in both graphs is returned once."""
        old: dict[tuple[Any, ...], list[GraphEdge]] = {}
        for edge in self.before.edges:
            ids = self.new_ids[edge.source], self.new_ids[edge.target]
            moved = GraphEdge(*ids, edge.label, edge.attrs)
            old.setdefault(_place(moved), []).append(moved)
        edges = []
        for edge in self.after.edges:
            same = old.get(_place(edge))
            edges.append(
                _compared_edge(same.pop(0), edge) if same else marking.edge_with(edge, "added")
            )
        left = [marking.edge_with(edge, "removed") for waiting in old.values() for edge in waiting]
        return edges + left


def _place(edge: GraphEdge) -> tuple[Any, ...]:
    return edge.source, edge.target, edge.attrs.get("operand"), edge.attrs.get("output")


def _plain(item: GraphNode | GraphGroup | GraphEdge) -> dict[str, Attribute]:
    return {key: value for key, value in item.attrs.items() if key not in ("state", "note")}


def _compared(before: GraphNode | None, after: GraphNode) -> GraphNode:
    attrs = _plain(after)
    if before is None:
        attrs |= marking.mark("added")
        return GraphNode(after.id, after.label, after.kind, after.group, after.depth, attrs)
    if before.id != after.id:
        attrs["id_before"] = before.id
    changes = _changes(before, after)
    if changes:
        attrs |= {**marking.mark("changed", _note(changes)), "changes": _joined(changes)}
        if len(_joined(changes)) > LONGEST_NOTE:
            detail = [str(attrs["detail"])] if attrs.get("detail") else []
            attrs["detail"] = "\n".join([*detail, *changes])
    return GraphNode(after.id, after.label, after.kind, after.group, after.depth, attrs)


def _compared_group(before: GraphGroup | None, after: GraphGroup) -> GraphGroup:
    """Return the frame `after` with its state.

    It is added if `before` is None, and changed if its name or class differs from that of `before`.
    Otherwise it has no state.
    """
    attrs = _plain(after)
    changes = []
    if before is None:
        attrs |= marking.mark("added")
    elif before.label != after.label and not (has_counted_name(before) and has_counted_name(after)):
        changes.append(f"name {before.label} → {after.label}")
    if before is not None and before.attrs.get("class_name") != after.attrs.get("class_name"):
        changes.append(f"class {before.attrs['class_name']} → {after.attrs['class_name']}")
    if changes:
        attrs |= {**marking.mark("changed", _note(changes)), "changes": _joined(changes)}
    return replace(after, attrs=attrs)


def _compared_edge(before: GraphEdge, after: GraphEdge) -> GraphEdge:
    for key in ("shape", "dtype", "connections"):
        pair = before.attrs.get(key), after.attrs.get(key)
        if pair[0] != pair[1]:
            return marking.edge_with(after, "changed", f"{pair[0]} → {pair[1]}")
    return GraphEdge(after.source, after.target, after.label, _plain(after))


def _changes(before: GraphNode, after: GraphNode) -> list[str]:
    """Return the differences of two boxes as texts: the name, then the attributes in `COMPARED`."""
    changes = []
    is_renamed = before.label != after.label
    if is_renamed and not (has_counted_name(before) and has_counted_name(after)):
        changes.append(f"name {before.label} → {after.label}")
    for key, word in COMPARED.items():
        pair = before.attrs.get(key), after.attrs.get(key)
        if pair[0] == pair[1]:
            continue
        old, new = map(_said, pair)
        if old == new:
            continue
        changes.append(f"{word} {old} → {new}".lstrip())
    return changes


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "none" if value in (None, "") else str(value)


def _joined(changes: list[str]) -> str:
    return ", ".join(changes)


def _note(changes: list[str]) -> str:
    if len(_joined(changes)) <= LONGEST_NOTE:
        return _joined(changes)
    rest = len(changes) - 1
    return f"{changes[0]} and {rest} more" if rest else changes[0]


# --- as text --------------------------------------------------------------------------------------


def diff_lines(graph: Graph) -> list[str]:
    """Return the differences found by `diff` as lines: "+" added, "-" removed, "~" changed.

    Examples
    --------
    >>> one = Graph("one", (GraphNode("a", "a", "dense"),), ())
    >>> two = Graph("one", (*one.nodes, GraphNode("b", "b", "dense")), ())
    >>> diff_lines(diff(one, two))
    ['one: 1 added, 0 removed, 0 changed, 1 same', '+ b']
    """
    lines = [f"{graph.name}: {graph.attrs.get('caption', '')}"]
    for node in items_of(graph):
        state = str(node.attrs.get("state", ""))
        if state == "changed":
            words = node.attrs.get("changes") or node.attrs.get("note", "")
            lines.append(f"{STATES[state].plain} {node.id}: {words}")
        elif state in ("added", "removed"):
            facts = [str(node.attrs.get(key, "")) for key in ("class_name", "output_shapes")]
            lines.append(" ".join(filter(None, [STATES[state].plain, node.id, *facts])))
    for edge in graph.edges:
        state = str(edge.attrs.get("state", ""))
        if state in ("added", "removed", "changed"):
            note = f": {edge.attrs['note']}" if edge.attrs.get("note") else ""
            lines.append(f"{STATES[state].plain} {edge.source} → {edge.target}{note}")
    return lines


# --- matching the boxes of two graphs -------------------------------------------------------------
#
# 1. By id, for names chosen by the user.
# 2. By structure: boxes of the same class and shape match if everything before them, or everything
#    after them, is the same. So a model that was built twice matches, even if its generated names
#    have other numbers (`dense_1`, now `dense_4`).
# 3. By generated ids.
# 4. Box by box, starting from matched neighbours. So a layer that was renamed, or has more units,
#    is not shown as one removed and one added.

Pairs = dict[str, str]
Links = Mapping[str, list[tuple[int, str]]]

_COUNT = re.compile(r"(_\d+)?(@\d+)?$")


def matched_boxes(before: Graph, after: Graph) -> Pairs:
    """Return the counterpart in `after` of each box of `before`, by ids and by neighbours.

    Boxes with equal ids are paired first, except generated ids such as `dense_1`. The other boxes
    are paired if their neighbours agree, or if their generated ids are equal.

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
    """Return the counterpart in `after` of each frame of `before`, by id or by contents.

    Two frames match by contents if all matched boxes of the first have counterparts in the second.
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
    """Return whether a name was generated from the class and a number, such as `dense_1`.

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
    """One of two compared graphs, with the sources and targets of each box."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.sources: dict[str, list[tuple[int, str]]] = {node.id: [] for node in graph.nodes}
        self.targets: dict[str, list[tuple[int, str]]] = {node.id: [] for node in graph.nodes}
        self._frames = nesting_of(graph)  # number of frames around each group's contents
        for edge in graph.edges:
            operand = int(edge.attrs.get("operand", 0))
            self.sources[edge.target].append((operand, edge.source))
            self.targets[edge.source].append((operand, edge.target))

    def look(self, name: str, with_shape: bool = True) -> Hashable:
        """Return the properties of a box that must be equal for boxes to match by structure."""
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


# --- matching by everything before or after a box -------------------------------------------------


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
    """Return for each box a number that represents the box and all boxes reachable from it.

    Boxes of either graph get the same number if they and everything reachable match. A box that is
    matched already is represented only by its id.
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
    """Match boxes of two graphs that have no counterpart yet and the same key, in order.

    `before` and `after` contain the key of each box by the box's id.
    """
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


# --- matching by neighbours -----------------------------------------------------------------------


def _match_neighbours(
    before: _Side, after: _Side, pairs: Pairs, with_shape: bool, all_agree: bool
) -> None:
    """Match the neighbours of matched boxes, then the neighbours of the new matches, and so on."""
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
    """Return the matched neighbours of a box: ids in the first graph, with input indices."""
    return tuple(
        tuple(sorted((operand, known[x]) for operand, x in links[name] if x in known))
        for links in (side.sources, side.targets)
    )


# --- rows for both graphs together ----------------------------------------------------------------
#
# In each of the two graphs all arrows point down. Together they may form a cycle, such as when two
# layers were swapped. Then the arrows of the new graph point down, and a removed one points up.

_PartLinks = dict[str, list[str]]


def with_rows(graph: Graph) -> Graph:
    """Return the graph with depths increased until its arrows point down.

    The depth of a box is its longest path to an end within its frame, but at least its former
    depth. Boxes are sorted as they are drawn, deepest first.

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


def _links_between_parts(graph: Graph, parts: list[str]) -> tuple[_PartLinks, _PartLinks]:
    """Return the arrows between children of one frame in two dicts: present and removed.

    An arrow from outside to a box inside a frame counts as an arrow to the frame.
    """
    chains = chains_of(graph.groups)
    homes = {node.id: node.group for node in graph.nodes}
    kept: _PartLinks = {part: [] for part in parts}
    removed: _PartLinks = {part: [] for part in parts}
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


def _downwards(parts: list[str], kept: _PartLinks, removed: _PartLinks) -> list[str]:
    """Return boxes and frames in topological order; removed arrows on cycles may point back."""
    before = {part: i for i, part in enumerate(parts)}
    waiting_kept = Counter(target for targets in kept.values() for target in targets)
    waiting_all = waiting_kept + Counter(x for targets in removed.values() for x in targets)

    def rank(part: str) -> tuple[bool, bool, int]:
        """Return the sort key of a box or frame: those whose sources are all sorted come first.

        Those that wait only for sources of removed arrows come next.
        """
        return waiting_kept[part] > 0, waiting_all[part] > 0, before[part]

    ranks = [rank(part) for part in parts]
    heapify(ranks)
    done: dict[str, None] = {}
    while ranks:
        found = heappop(ranks)
        part = parts[found[2]]
        if part in done or found != rank(part):  # the rank of the item has changed
            continue
        done[part] = None
        targets = [*kept[part], *removed[part]]
        waiting_kept.subtract(kept[part])
        waiting_all.subtract(targets)
        for target in targets:
            heappush(ranks, rank(target))
    return list(done)


# --- the `diff` argument of `draw`: another model, or earlier weights -----------------------------


LEVELS_OF_LAYERS = ("node", "layer")


def with_changes_since(
    graph: Graph, subject: Any, before: Any, graph_before: Callable[[Any], Graph]
) -> Graph:
    """Return a graph with the changes since an earlier state marked.

    Parameters
    ----------
    graph : Graph
        The graph of `subject`.
    subject : object
    before : model, Graph, or list of array_like
        An earlier model or graph, or earlier weights of `subject` from `get_weights()`.
    graph_before : callable
        Returns the graph of `before`.

    Notes
    -----
    If both models have the same graph, such as a model before and after training, their weights are
    compared.

    Raises
    ------
    ArgumentError
        The arrays do not fit the weights of `subject`, or `subject` has no weights.
    """
    if _are_arrays(before):
        if not isinstance(subject, Network) or graph.attrs.get("level") not in LEVELS_OF_LAYERS:
            raise ArgumentError(
                "draw: expected a model at level 'node' or 'layer' for diff=weights, "
                f"got {type(subject).__name__} at level {graph.attrs.get('level', '?')!r}."
            )
        return _with_weights(graph, subject, before)
    both = diff(graph_before(before), graph)
    parts: list[GraphNode | GraphEdge] = [*both.nodes, *both.edges]
    is_same = not any(part.attrs.get("state") for part in parts)
    if is_same and graph.attrs.get("level") in LEVELS_OF_LAYERS and _fit(subject, before):
        return _with_weights(both, subject, before.get_weights())
    return both


def _are_arrays(before: Any) -> bool:
    return isinstance(before, (list, tuple)) and all(
        isinstance(one, (np.ndarray, np.generic)) for one in before
    )


def _fit(subject: Any, before: Any) -> bool:
    """Return whether two models have weights of the same shapes."""
    if not (isinstance(subject, Network) and isinstance(before, Network)):
        return False
    return [w.shape for w in subject.weights] == [w.shape for w in before.weights]


def _with_weights(graph: Graph, model: Network, before: Any) -> Graph:
    graph = with_weight_changes(graph, weight_changes(model, before))
    moved = sum(box.attrs.get("state") in ("changed", "nan") for box in graph.nodes)
    words = f"The weights of {counted(moved, 'box')} changed" if moved else "No weight changed"
    caption = caption_with(graph.attrs, words)
    return replace(graph, attrs={**graph.attrs, "caption": caption})


# --- changes of weights ---------------------------------------------------------------------------


def weight_changes(
    model: Network, before: Sequence[Any], after: Sequence[Any] | None = None
) -> dict[str, float]:
    """Return the relative change of the weights of each layer.

    Parameters
    ----------
    model : Network
        A built model.
    before, after : list of array_like
        Lists from `model.get_weights()`. By default, `after` are the present weights of the model.

    Returns
    -------
    dict of str to float
        The relative change by the path of the layer: its name, or `encoder/wide` inside a nested
        model. It is infinite if all weights were zero before and are not zero now. Layers without
        weights are left out.

    Raises
    ------
    DtypeError
        `model` is not a model.
    ArgumentError
        The arrays do not fit the weights of this model.

    Notes
    -----
    ‖w1 - w0‖ / ‖w0‖, with L2 norms over all weights of the layer.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(1,), name="x")
    >>> model = Model(x, Dense(1, kernel_initializer="ones", use_bias=False, name="d")(x))
    >>> weight_changes(model, model.get_weights(), [[[1.5]]])
    {'d': 0.5}
    """
    if not isinstance(model, Network):
        raise DtypeError(f"weight_changes: expected a model, got {type(model).__name__}.")
    weights = model._weights_by_layer()  # the order of get_weights
    after = model.get_weights() if after is None else after
    times = [
        _checked(arrays, weights, name) for arrays, name in ((before, "before"), (after, "after"))
    ]
    old, new = (dict(zip(weights, arrays, strict=True)) for arrays in times)
    changes: dict[str, float] = {}
    for path, layer in layers_by_path(model).items():
        own = [w for w in dict.fromkeys(layer.weights) if w in old]
        if own:
            moved = norm_of([norm_of(new[w] - old[w]) for w in own])
            size = norm_of([norm_of(old[w]) for w in own])
            changes[path] = _relative(moved, size)
    return changes


def _relative(moved: float, size: float) -> float:
    if size or not moved or np.isnan(moved):
        return moved / size if size else moved
    return float("inf")


def _checked(arrays: Sequence[Any], weights: Sequence[Any], name: str) -> list[np.ndarray]:
    """Return arrays as float64. Raise an error unless they have the shapes of the weights."""
    found = [np.asarray(array, "float64") for array in arrays]
    wanted, given = [tuple(w.shape) for w in weights], [array.shape for array in found]
    if wanted == given:
        return found
    if len(wanted) != len(given):
        expected = f"expected {len(wanted)} arrays, got {len(given)}"
    else:
        i = next(i for i, pair in enumerate(zip(wanted, given, strict=True)) if pair[0] != pair[1])
        expected = f"expected array {i} to have shape {wanted[i]}, got {given[i]}"
    raise ArgumentError(
        f"weight_changes: {name}: {expected}. Use the result of this model's get_weights()."
    )


def with_weight_changes(graph: Graph, changes: Mapping[str, float]) -> Graph:
    """Return the graph with the change of each layer's weights.

    Parameters
    ----------
    graph : Graph
    changes : mapping of str to float
        The relative change by the path of the layer, as returned by `weight_changes`.

    Returns
    -------
    Graph
        Boxes of layers whose weights changed have the state "changed" and the attribute
        `weight_change`. Boxes of layers whose weights are the same have the line "weights
        unchanged".

    Raises
    ------
    ArgumentError
        The graph shows none of these layers.
    """
    boxes = {
        box: changes[path] for box, path in marking.paths_of_boxes(graph).items() if path in changes
    }
    if changes and not boxes:
        raise ArgumentError(
            f"with_weight_changes: expected the graph of the same model. Graph {graph.name!r} has "
            f"none of the layers {', '.join(list(changes)[:8])}."
        )
    marks: dict[str, Mapping[str, Attribute]] = {}
    details = {box: "weights unchanged" for box, change in boxes.items() if change == 0}
    for box, change in boxes.items():
        if np.isnan(change):
            marks[box] = marking.mark("nan", "weights not finite")
        elif np.isinf(change):
            marks[box] = marking.mark("changed", "weights changed from 0")
        elif change:
            note = f"weights changed by {100 * change:.2g} %"
            marks[box] = {**marking.mark("changed", note), "weight_change": float(f"{change:.3e}")}
    return marking.with_attributes(marking.with_details(graph, details), marks)

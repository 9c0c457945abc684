"""Two models in one picture: what was added, removed and changed.

`diff(before, after)` draws every box and arrow of both graphs once. `matching.py` says which boxes
are the same; those that differ say in what. `diff_lines` says it in words, for a terminal. What
changed in the numbers of one model is another picture: `weight_changes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kerascope.engine.node_ids import free_id
from kerascope.errors import ArgumentError, DtypeError
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.overlays.marking import edge_with, items_of, mark
from kerascope.viz.overlays.matching import Pairs, has_counted_name, matched_boxes, matched_groups
from kerascope.viz.overlays.union_rows import with_rows
from kerascope.viz.theme import STATES

LONGEST_NOTE = 48
# What is compared, and its name where the attribute's own says too little.
COMPARED = {
    "class_name": "class",
    "output_shapes": "",
    "activation": "activation",
    "parameters": "params",
    "trainable": "trainable",
    "dtype": "dtype",
    "calls": "calls",
    "outputs": "gives",
    "value": "value",
}


def diff(before: Graph, after: Graph) -> Graph:
    """Return both graphs as one, with what differs marked.

    Parameters
    ----------
    before, after : Graph
        Of one level.

    Returns
    -------
    Graph
        Boxes, frames and arrows have the state "added", "removed" or "changed", or none if they are
        the same. The `note` of a changed box says what changed, `changes` says all of it, `detail`
        has it line by line where the note is too short, and `id_before` stands where the id is
        another. `added`, `removed`,
        `changed` and `same` of the whole count the boxes.

    Raises
    ------
    DtypeError
        One of them is no Graph.
    ArgumentError
        They are of different levels.

    Notes
    -----
    A layer whose name was only counted on (`dense_1` to `dense_4`) has not changed by that.

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
            f"diff: the graphs are of different levels; expected one level, got {levels[0]!r} and "
            f"{levels[1]!r}."
        )
    boxes = matched_boxes(before, after)
    union = _Union(before, after, boxes, matched_groups(before, after, boxes))
    nodes, groups, edges = union.nodes(), union.all_groups(), union.edges()
    counts = _counts(nodes)
    caption = ", ".join(f"{count} {what}" for what, count in counts.items())
    for word, items in (("Frames", groups), ("Arrows", edges)):
        told = [f"{n} {what}" for what, n in _counts(items).items() if n and what != "same"]
        caption += f". {word}: {', '.join(told)}" if told else ""
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
    """Makes the parts of the picture: those of `after`, then what was removed.

    Parameters
    ----------
    before, after : Graph
    boxes, groups : dict of str to str
        What each box and frame of `before` has become.
    """

    before: Graph
    after: Graph
    boxes: Pairs
    groups: Pairs

    def __post_init__(self) -> None:
        taken = dict.fromkeys(item.id for item in items_of(self.after))
        self.new_ids: dict[str, str] = {}  # of each box and frame of `before`
        self.new_groups: dict[str, str] = {"": ""}
        for items, pairs, ids in (
            (self.before.nodes, self.boxes, self.new_ids),
            (self.before.groups, self.groups, self.new_groups),
        ):
            for item in items:
                ids[item.id] = pairs[item.id] if item.id in pairs else free_id(item.id, taken)
                taken[ids[item.id]] = None

    def nodes(self) -> list[GraphNode]:
        """Return all boxes."""
        old = {node.id: node for node in self.before.nodes}
        before = {new: old[name] for name, new in self.boxes.items()}
        nodes = [_compared(before.get(node.id), node) for node in self.after.nodes]
        for node in self.before.nodes:
            if node.id not in self.boxes:
                group, attrs = self.new_groups[node.group], {**_plain(node), **mark("removed")}
                box_id = self.new_ids[node.id]
                nodes.append(GraphNode(box_id, node.label, node.kind, group, 0, attrs))
        return nodes

    def all_groups(self) -> list[GraphGroup]:
        """Return all frames."""
        old = {group.id: group for group in self.before.groups}
        before = {new: old[name] for name, new in self.groups.items()}
        groups = [_compared_group(before.get(group.id), group) for group in self.after.groups]
        for group in self.before.groups:
            if group.id not in self.groups:
                ids = self.new_groups[group.id], self.new_groups[group.parent]
                attrs = {**group.attrs, **mark("removed")}
                groups.append(replace(group, id=ids[0], parent=ids[1], depth=0, attrs=attrs))
        return groups

    def edges(self) -> list[GraphEdge]:
        """Return all arrows; one of each graph between the same places are one."""
        old: dict[tuple[Any, ...], list[GraphEdge]] = {}
        for edge in self.before.edges:
            ids = self.new_ids[edge.source], self.new_ids[edge.target]
            moved = GraphEdge(*ids, edge.label, edge.attrs)
            old.setdefault(_place(moved), []).append(moved)
        edges = []
        for edge in self.after.edges:
            same = old.get(_place(edge))
            edges.append(_compared_edge(same.pop(0), edge) if same else edge_with(edge, "added"))
        left = [edge_with(edge, "removed") for waiting in old.values() for edge in waiting]
        return edges + left


def _place(edge: GraphEdge) -> tuple[Any, ...]:
    return edge.source, edge.target, edge.attrs.get("operand"), edge.attrs.get("output")


def _plain(item: GraphNode) -> dict[str, Attribute]:
    return {key: value for key, value in item.attrs.items() if key not in ("state", "note")}


def _compared(before: GraphNode | None, after: GraphNode) -> GraphNode:
    attrs = _plain(after)
    if before is None:
        attrs |= mark("added")
        return GraphNode(after.id, after.label, after.kind, after.group, after.depth, attrs)
    if before.id != after.id:
        attrs["id_before"] = before.id
    changes = _changes(before, after)
    if changes:
        attrs |= {**mark("changed", _note(changes)), "changes": _joined(changes)}
        if len(_joined(changes)) > LONGEST_NOTE:
            detail = [str(attrs["detail"])] if attrs.get("detail") else []
            attrs["detail"] = "\n".join([*detail, *changes])
    return GraphNode(after.id, after.label, after.kind, after.group, after.depth, attrs)


def _compared_group(before: GraphGroup | None, after: GraphGroup) -> GraphGroup:
    """Compare a frame's name and class; what lies in it is compared box by box."""
    attrs = {key: value for key, value in after.attrs.items() if key not in ("state", "note")}
    changes = []
    if before is None:
        attrs |= mark("added")
    elif before.label != after.label and not (has_counted_name(before) and has_counted_name(after)):
        changes.append(f"name {before.label} → {after.label}")
    if before is not None and before.attrs.get("class_name") != after.attrs.get("class_name"):
        changes.append(f"class {before.attrs['class_name']} → {after.attrs['class_name']}")
    if changes:
        attrs |= {**mark("changed", _note(changes)), "changes": _joined(changes)}
    return replace(after, attrs=attrs)


def _compared_edge(before: GraphEdge, after: GraphEdge) -> GraphEdge:
    for key in ("shape", "dtype", "connections"):
        pair = before.attrs.get(key), after.attrs.get(key)
        if pair[0] != pair[1]:
            return edge_with(after, "changed", f"{pair[0]} → {pair[1]}")
    attrs = {key: value for key, value in after.attrs.items() if key not in ("state", "note")}
    return GraphEdge(after.source, after.target, after.label, attrs)


def _changes(before: GraphNode, after: GraphNode) -> list[str]:
    """Return what differs, in words, what tells most first."""
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


# --- in words -------------------------------------------------------------------------------------


def diff_lines(graph: Graph) -> list[str]:
    """Return what `diff` found in words, a line each: "+" added, "-" removed, "~" changed.

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

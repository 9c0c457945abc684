"""Collects what an op graph is drawn of: boxes, frames and arrows, from tensors.

`ops.py` says what the graph looks like, and is the only user of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kerascope.backend.graph import Apply, Constant, Placeholder, Tensor, Variable
from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.traversal import applies_in_order
from kerascope.engine.node_ids import clean
from kerascope.trace.records import counted
from kerascope.viz.extract.layer_facts import with_output
from kerascope.viz.extract.op_facts import (
    frame_attributes,
    kind_of_leaf,
    leaf_attributes,
    leaf_label,
    leaf_of_name,
    loop_attributes,
    op_attributes,
    own_name,
    shape_text,
)
from kerascope.viz.extract.op_frames import Frame, Keys, frames_of, keys_of, without_common_keys
from kerascope.viz.extract.op_places import FreeIds, placed
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode


class _End(NamedTuple):
    """Where an arrow begins or ends: a box, and which of its outputs or inputs."""

    box: str
    number: int


class _Piece:
    """A piece of graph whose tensors are its own: the outermost one, or one step of a loop.

    Attributes
    ----------
    applies : list of Apply
    group : str
        Id of the frame around it, "" for none.
    ends : dict of Tensor to _End
    loops : dict of Apply to (InnerGraph, _Piece)
    """

    def __init__(self, applies: Sequence[Apply], group: str) -> None:
        self.applies = applies
        self.group = group
        self.ends: dict[Tensor, _End] = {}
        self.loops: dict[Apply, tuple[InnerGraph, _Piece]] = {}


class OpView:
    """Collects the boxes, edges and groups of an op graph, piece by piece.

    Parameters
    ----------
    results : list of Tensor
    fed : list of Tensor
        Given: how they are computed is not shown.
    """

    def __init__(self, results: list[Tensor], fed: list[Tensor]) -> None:
        self.boxes: dict[str, GraphNode] = {}
        self.groups: dict[str, GraphGroup] = {}
        self.edges: list[GraphEdge] = []
        self._ids = FreeIds()
        self._free: list[str] = []  # boxes that come into the innermost frame around their users
        applies = applies_in_order(results, fed)
        self._whole = _Piece(applies, "")
        keys = keys_of(applies)
        frame_of = self._add_frames(self._whole, keys)
        for x in dict.fromkeys(fed):
            self._leaf(x)
        for x in (x for apply in applies for x in apply.inputs):
            if x.owner is None and not isinstance(x, Constant):
                self._leaf(x)
        pieces = [(self._whole, frame_of)]
        waiting = list(pieces)
        while waiting:
            found = self._add_boxes(*waiting.pop(0))
            pieces += found
            waiting += found
        for piece, _ in pieces:
            self._add_edges(piece)

    # --- frames and boxes -------------------------------------------------------------------------

    def _add_frames(self, piece: _Piece, keys: Keys) -> dict[Apply, str]:
        """Add the frames of a piece; return the innermost one around each op."""
        frames, frame_of = frames_of(piece.applies, keys)
        ids: dict[Frame | None, str] = {None: piece.group}
        for frame in frames:
            parent = ids[frame.parent]
            ids[frame] = self._ids.take(_below(parent, frame.name))
            self.groups[ids[frame]] = GraphGroup(
                ids[frame], clean(frame.key.name), parent, 0, frame_attributes(frame)
            )
        return {apply: ids[frame_of.get(apply)] for apply in piece.applies}

    def _add_boxes(
        self, piece: _Piece, group_of: dict[Apply, str]
    ) -> list[tuple[_Piece, dict[Apply, str]]]:
        """Add the boxes of a piece; return the pieces inside its loops."""
        inside = []
        for apply in piece.applies:
            group = group_of[apply]
            box_id = self._ids.take(_below(group, leaf_of_name(apply)))
            if isinstance(apply.op, Scan):
                inside.append(self._add_loop(piece, apply, box_id, group))
                continue
            self.boxes[box_id] = GraphNode(
                box_id, clean(apply.op.name), "op", group, 0, op_attributes(apply)
            )
            piece.ends.update((y, _End(box_id, i)) for i, y in enumerate(apply.outputs))
        return inside

    def _add_loop(
        self, piece: _Piece, apply: Apply, box_id: str, group: str
    ) -> tuple[_Piece, dict[Apply, str]]:
        inner = apply.op.inner.fitted(apply.inputs)  # type: ignore[attr-defined]
        label = clean(apply.op.name)
        self.groups[box_id] = GraphGroup(box_id, label, group, 0, loop_attributes(apply))
        step = _Piece(inner.applies, box_id)
        piece.loops[apply] = inner, step
        group_of = self._add_frames(step, without_common_keys(keys_of(inner.applies)))
        parts = {
            "one step": inner.sequences,
            "before the step": inner.states,
            "at each step": inner.others,
        }
        for role, tensors in parts.items():
            for x in tensors:
                self._add_stand_in(step, x, role)
        return step, group_of

    def _add_stand_in(self, step: _Piece, x: Placeholder, role: str) -> None:
        """Add the box of what stands inside a loop for something outside."""
        name = x.name.rpartition("/")[2]
        box_id = self._ids.take(_below(step.group, name))
        attrs = {**leaf_attributes(x), "input_count": 1, "detail": role}
        self.boxes[box_id] = GraphNode(box_id, clean(name), "placeholder", step.group, 0, attrs)
        step.ends[x] = _End(box_id, 0)

    def _leaf(self, x: Tensor, user: str = "") -> _End:
        """Return where a given tensor leaves its box; it has one, wherever it is used.

        A constant without a name is called after the box that uses it first.
        """
        if x not in self._whole.ends:
            kind = kind_of_leaf(x)
            box_id = self._ids.take(own_name(x) or _below(user, "constant"))
            self.boxes[box_id] = GraphNode(box_id, leaf_label(x), kind, "", 0, leaf_attributes(x))
            self._whole.ends[x] = _End(box_id, 0)
            if kind != "placeholder":
                self._free.append(box_id)
        return self._whole.ends[x]

    # --- edges ------------------------------------------------------------------------------------

    def _source(self, x: Tensor, piece: _Piece, user: str = "") -> _End:
        """Return where a tensor leaves the box that computes it, be it inside a loop."""
        while x not in piece.ends and x.owner is not None:
            inner, piece = piece.loops[x.owner]
            given = inner.results
            x = [*given.outputs, *inner.states, *given.new_states, *given.terms][x.index]
        return piece.ends[x] if x in piece.ends else self._leaf(x, user)

    def _add_edges(self, piece: _Piece) -> None:
        for apply in piece.applies:
            if apply in piece.loops:
                inner, step = piece.loops[apply]
                targets = [step.ends[x] for x in inner.inputs]
            else:
                box = piece.ends[apply.outputs[0]].box
                targets = [_End(box, i) for i in range(len(apply.inputs))]
            for x, target in zip(apply.inputs, targets, strict=True):
                self._add_edge(x, self._source(x, piece, target.box), target)
        for inner, step in piece.loops.values():
            for old, new in zip(inner.states, inner.results.new_states, strict=True):
                end = step.ends[old]
                self._add_edge(new, self._source(new, step, end.box), end, "update", "next step")

    def _add_edge(
        self, x: Tensor, source: _End, target: _End, role: str = "", label: str = ""
    ) -> None:
        attrs: dict[str, Attribute] = {
            "operand": target.number,
            "output": source.number,
            "shape": shape_text(x.shape),
            "dtype": x.dtype,
        }
        if role:
            attrs["role"] = role
        self.edges.append(GraphEdge(source.box, target.box, label, attrs))

    def add_update(self, variable: Variable, new_value: Tensor) -> None:
        """Add the box of an update, with the edges into it and on to the variable."""
        target = self._leaf(variable)
        box_id = self._ids.take(f"{variable.name}/update")
        attrs = {**leaf_attributes(variable), "class_name": "Update", "parameters": 0}
        attrs["input_count"] = 1
        label = clean(variable.name)
        self.boxes[box_id] = GraphNode(box_id, label, "update", "", 0, attrs)
        source = self._source(new_value, self._whole, box_id)
        self._add_edge(new_value, source, _End(box_id, 0))
        self._add_edge(variable, _End(box_id, 0), target, "update")

    # --- the whole --------------------------------------------------------------------------------

    def mark_results(self, results: list[Tensor]) -> None:
        """Write on the boxes which results leave there."""
        for number, x in enumerate(results):
            box_id = self._source(x, self._whole).box
            name = "output" if len(results) == 1 else f"output {number}"
            self.boxes[box_id] = with_output(self.boxes[box_id], name)

    def graph(self, name: str) -> Graph:
        """Return the graph of everything collected, each box at its depth."""
        boxes, groups = placed(self.boxes, self.groups, self.edges, self._free)
        parameters = sum(int(box.attrs["parameters"]) for box in boxes)
        kinds = [box.kind for box in boxes]
        loops = sum(group.attrs["kind"] == "loop" for group in groups)
        counts = {"op": kinds.count("op"), "loop": loops}
        counts.update({kind: kinds.count(kind) for kind in ("variable", "constant", "update")})
        told = [counted(n, word) for word, n in counts.items() if n or word == "op"]
        attrs: dict[str, Attribute] = {
            "level": "op",
            "parameters": parameters,
            "caption": ", ".join(told),
        }
        return Graph(clean(name), tuple(boxes), tuple(self.edges), tuple(groups), attrs)


def _below(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name

"""From tensors to the neutral `Graph`, op by op: every op and constant behind the results.

There is one box for every call of an op (an `Apply`), one for every placeholder, variable and
constant, and one arrow for every input of every call. Frames show the layer and the call that an op
belongs to; see `op_frames.py`. The attributes of boxes are listed in `op_facts.py`.

A loop (`Scan`) is a frame around the ops of one step. An arrow from outside ends at the loop's
placeholder for it: one step of a sequence, the state before the step, or a value that is the same
in each step. An output of the loop leaves from the box that computes it in a step; the history of a
state leaves from the state itself. An arrow with the role "update" leads from each new state back
to the state before the next step.

Depth is counted among the boxes and frames directly inside one frame: 0 for those without users,
otherwise one more than the deepest user. Arrows with a role do not count.

The module contains the functions for each kind of subject, then the collection of boxes, frames and
arrows, then their depths.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, Constant, Placeholder, Tensor, applies_in_order
from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.provenance import short_line
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node_ids import clean
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError
from kerascope.trace.records import counted
from kerascope.viz.extract import op_facts
from kerascope.viz.extract.layers import End, GraphBuilder
from kerascope.viz.extract.op_frames import Frame, Keys, frames_of, keys_of, without_common_keys
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import Chain, below, chains_of, longest_paths, shared_length


def op_graph(results: Any, *, name: str = "ops", fed: Iterable[Tensor] = ()) -> Graph:
    """Return the graph of the ops that compute tensors.

    Parameters
    ----------
    results : Tensor or list of (Tensor or None)
        The tensors to compute. None, a possible result of `K.gradients`, is left out.
    name : str
        Title of the graph.
    fed : iterable of Tensor, optional
        Tensors whose values are given. They are drawn; the ops that compute them are not.

    Returns
    -------
    Graph
        Level "op". Its arrows have the attributes `operand`, `output`, `shape` and `dtype`.

    Raises
    ------
    DtypeError
        One of the results is not a tensor.
    ArgumentError
        `results` contains no tensor.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(3,), name="x")
    >>> graph = op_graph(K.exp(x) + x)
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('x', 'exp'), ('exp', 'add'), ('x', 'add')]
    """
    tensors = [x for x in to_list(results) if x is not None]
    for x in tensors:
        if not isinstance(x, Tensor):
            remedy = " Use op_graph_of_model(model)." if isinstance(x, Network) else ""
            raise DtypeError(f"op_graph: expected tensors, got {type(x).__name__}.{remedy}")
    if not tensors:
        raise ArgumentError("op_graph: expected a tensor or a list of tensors, got none.")
    view = OpView(tensors, list(fed))
    view.mark_results(tensors)
    return view.graph(name)


def op_graph_of_layer(layer: Layer, call: int = 0, *, where: str = "op_graph_of_layer") -> Graph:
    """Return the ops inside one layer, from the inputs to the outputs of one call.

    Parameters
    ----------
    layer : Layer
    call : int
        The index of the call in `layer.inbound_nodes`, its calls on symbolic tensors.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    NotBuiltError
        The layer was never called on symbolic tensors, so it has no ops.
    ArgumentError
        The layer has no call with this index.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.layers import Dense
    >>> x, dense = Input(shape=(4,), name="x"), Dense(3, name="dense")
    >>> y = dense(x)
    >>> [box.id for box in op_graph_of_layer(dense).nodes if box.kind == "op"]
    ['dense/dot', 'dense/add']
    """
    if not isinstance(layer, Layer):
        raise DtypeError(f"{where}: expected a layer, got {type(layer).__name__}.")
    nodes = layer.inbound_nodes
    if not nodes:
        raise NotBuiltError(
            f"{where}: {layer.label} was never called on a symbolic tensor, so it has no ops. "
            f"Call it on Input(shape=...) first.",
            subject=layer,
        )
    if not 0 <= call < len(nodes):
        raise ArgumentError(
            f"{where}: expected call from 0 to {len(nodes) - 1}, got {call}. {layer.label} was "
            f"called {counted(len(nodes), 'time')}.",
            subject=layer,
        )
    node = nodes[call]
    fed = dict.fromkeys(x for x in node.input_tensors)
    read = {x for apply in applies_in_order(node.output_tensors, fed) for x in apply.inputs}
    fed.update(dict.fromkeys(x for x in node.input_masks if x in read))
    name = layer.name if len(nodes) == 1 else f"{layer.name}@{call}"
    return op_graph(node.output_tensors, name=name, fed=[x for x in fed if x is not None])


def op_graph_of_model(model: Network) -> Graph:
    """Return the ops of a whole model, from its inputs to its outputs.

    Parameters
    ----------
    model : Network
        A network with a graph of layers.

    Raises
    ------
    DtypeError, NotBuiltError
        The value is not a model, or the model has no graph.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.engine.model import Model
    >>> from kerascope.layers import Dense
    >>> x, shared = Input(shape=(4,), name="x"), Dense(4, name="shared")
    >>> [frame.id for frame in op_graph_of_model(Model(x, shared(shared(x)))).groups]
    ['shared@0', 'shared@1']
    """
    if not isinstance(model, Network):
        raise DtypeError(f"op_graph_of_model: expected a model, got {type(model).__name__}.")
    if not model.outputs:
        raise NotBuiltError(
            f"op_graph_of_model: {model.label} has no graph of layers. "
            f"Wrap it: x = Input(...), Model(x, model(x)).",
            subject=model,
        )
    return op_graph(model.outputs, name=model.name, fed=model.inputs)


def op_graph_of_function(function: Any) -> Graph:
    """Return the ops that a function of `K.function` runs for its outputs and its updates.

    Parameters
    ----------
    function : Function

    Returns
    -------
    Graph
        Each update is a box with an arrow from the new value, and an arrow with the role "update"
        to the variable.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> w = K.variable(2.0, name="w")
    >>> graph = op_graph_of_function(K.function([], [w ** 2], updates=[(w, 0.8 * w)]))
    >>> [(e.source, e.target) for e in graph.edges if e.attrs.get("role") == "update"]
    [('w/update', 'w')]
    """
    if not isinstance(function, Function):
        got = type(function).__name__
        raise DtypeError(f"op_graph_of_function: expected a function of K.function, got {got}.")
    new_values = [update.new_value for update in function.updates]
    view = OpView([*function.outputs, *new_values], function.inputs)
    for update in function.updates:
        view.add_update(update.variable, update.new_value)
    view.mark_results(function.outputs)
    return view.graph(function.name)


# --- boxes, frames and arrows ---------------------------------------------------------------------


class _GraphPiece:
    """A part of an op graph: the ops of the results, or the ops of one step of a loop.

    Attributes
    ----------
    applies : list of Apply
    group : str
        The id of the frame around the part; "" for the whole graph.
    ends : dict of Tensor to End
        The box that computes each tensor, with the output index.
    loops : dict of Apply to (InnerGraph, _GraphPiece)
        The graph of one step of each loop, and the part that draws it.
    """

    def __init__(self, applies: Sequence[Apply], group: str) -> None:
        self.applies = applies
        self.group = group
        self.ends: dict[Tensor, End] = {}
        self.loops: dict[Apply, tuple[InnerGraph, _GraphPiece]] = {}


class OpView(GraphBuilder):
    """Collects the boxes, arrows and frames of an op graph, first those outside loops.

    Parameters
    ----------
    results : list of Tensor
    fed : list of Tensor
        Given tensors: the ops that compute them are not shown.
    """

    def __init__(self, results: list[Tensor], fed: list[Tensor]) -> None:
        super().__init__()
        self.groups: dict[str, GraphGroup] = {}
        self._free: list[str] = []  # boxes placed in the innermost frame around their users
        applies = applies_in_order(results, fed)
        self._whole = _GraphPiece(applies, "")
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

    def _add_frames(self, piece: _GraphPiece, keys: Keys) -> dict[Apply, str]:
        """Add the frames of a part of the graph and return the innermost frame around each op."""
        frames, frame_of = frames_of(piece.applies, keys)
        ids: dict[Frame | None, str] = {None: piece.group}
        for frame in frames:
            parent = ids[frame.parent]
            ids[frame] = self.free_id(below(parent, frame.name))
            self.groups[ids[frame]] = GraphGroup(
                ids[frame], clean(frame.key.name), parent, 0, op_facts.frame_attributes(frame)
            )
        return {apply: ids[frame_of.get(apply)] for apply in piece.applies}

    def _add_boxes(
        self, piece: _GraphPiece, group_of: dict[Apply, str]
    ) -> list[tuple[_GraphPiece, dict[Apply, str]]]:
        """Add the boxes of a part of the graph; return a part for the step of each loop in it."""
        inside = []
        for apply in piece.applies:
            group = group_of[apply]
            box_id = self.free_id(below(group, op_facts.leaf_of_name(apply)))
            if isinstance(apply.op, Scan):
                inside.append(self._add_loop(piece, apply, box_id, group))
                continue
            attrs, made_at = op_facts.op_attributes(apply), short_line(apply)
            self.boxes[box_id] = GraphNode(
                box_id, clean(apply.op.name), "op", group, 0, attrs, made_at
            )
            piece.ends.update((y, End(box_id, i)) for i, y in enumerate(apply.outputs))
        return inside

    def _add_loop(
        self, piece: _GraphPiece, apply: Apply, box_id: str, group: str
    ) -> tuple[_GraphPiece, dict[Apply, str]]:
        inner = apply.op.inner.fitted(apply.inputs)  # type: ignore[attr-defined]
        label = clean(apply.op.name)
        self.groups[box_id] = GraphGroup(box_id, label, group, 0, op_facts.loop_attributes(apply))
        step = _GraphPiece(inner.applies, box_id)
        piece.loops[apply] = inner, step
        group_of = self._add_frames(step, without_common_keys(keys_of(inner.applies)))
        parts = {
            "one step": inner.sequences,
            "before the step": inner.states,
            "at each step": inner.others,
        }
        for role, tensors in parts.items():
            for x in tensors:
                self._add_placeholder(step, x, role)
        return step, group_of

    def _add_placeholder(self, step: _GraphPiece, x: Placeholder, role: str) -> None:
        """Add the box of a loop's placeholder for a tensor from outside."""
        name = x.name.rpartition("/")[2]
        box_id = self.free_id(below(step.group, name))
        attrs = {**op_facts.leaf_attributes(x), "input_count": 1, "detail": role}
        self.boxes[box_id] = GraphNode(box_id, clean(name), "placeholder", step.group, 0, attrs)
        step.ends[x] = End(box_id, 0)

    def _leaf(self, x: Tensor, user: str = "") -> End:
        """Return the box of a tensor that no op computed; add the box if there is none yet.

        A constant without a name is named after the first box that uses it.
        """
        if x not in self._whole.ends:
            kind = op_facts.kind_of_leaf(x)
            box_id = self.free_id(op_facts.own_name(x) or below(user, "constant"))
            self.boxes[box_id] = GraphNode(
                box_id, op_facts.leaf_label(x), kind, "", 0, op_facts.leaf_attributes(x)
            )
            self._whole.ends[x] = End(box_id, 0)
            if kind != "placeholder":
                self._free.append(box_id)
        return self._whole.ends[x]

    # --- arrows -----------------------------------------------------------------------------------

    def _source(self, x: Tensor, piece: _GraphPiece, user: str = "") -> End:
        """Return the box that computes a tensor, also in a loop, and the index of its output."""
        while x not in piece.ends and x.owner is not None:
            inner, piece = piece.loops[x.owner]
            given = inner.results
            x = [*given.outputs, *inner.states, *given.new_states, *given.terms][x.index]
        return piece.ends[x] if x in piece.ends else self._leaf(x, user)

    def _add_edges(self, piece: _GraphPiece) -> None:
        for apply in piece.applies:
            if apply in piece.loops:
                inner, step = piece.loops[apply]
                targets = [step.ends[x] for x in inner.inputs]
            else:
                box = piece.ends[apply.outputs[0]].box
                targets = [End(box, i) for i in range(len(apply.inputs))]
            for x, target in zip(apply.inputs, targets, strict=True):
                self._add_edge(x, self._source(x, piece, target.box), target)
        for inner, step in piece.loops.values():
            for old, new in zip(inner.states, inner.results.new_states, strict=True):
                end = step.ends[old]
                self._add_edge(new, self._source(new, step, end.box), end, "update", "next step")

    def _add_edge(
        self, x: Tensor, source: End, target: End, role: str = "", label: str = ""
    ) -> None:
        more = {"role": role} if role else {}
        self.add_edge(source, target, x.shape, str(x.dtype), label, **more)

    def add_update(self, variable: Variable, new_value: Tensor) -> None:
        """Add the box of an update, with arrows from the new value and to the variable."""
        target = self._leaf(variable)
        box_id = self.free_id(f"{variable.name}/update")
        attrs = {**op_facts.leaf_attributes(variable), "class_name": "Update", "parameters": 0}
        attrs["input_count"] = 1
        self.boxes[box_id] = GraphNode(box_id, clean(variable.name), "update", "", 0, attrs)
        source = self._source(new_value, self._whole, box_id)
        self._add_edge(new_value, source, End(box_id, 0))
        self._add_edge(variable, End(box_id, 0), target, "update")

    # --- the whole graph --------------------------------------------------------------------------

    def mark_results(self, results: list[Tensor]) -> None:
        """Label the boxes that compute the results of the graph as outputs."""
        self.mark_outputs(self._source(x, self._whole).box for x in results)

    def graph(self, name: str) -> Graph:
        """Return the graph of the collected boxes, arrows and frames, with computed depths."""
        boxes, groups = placed(self.boxes, self.groups, self.edges, self._free)
        parameters = sum(int(box.attrs["parameters"]) for box in boxes)
        kinds = [box.kind for box in boxes]
        loops = sum(group.attrs["kind"] == "loop" for group in groups)
        counts = {"op": kinds.count("op"), "loop": loops}
        counts.update({kind: kinds.count(kind) for kind in ("variable", "constant", "update")})
        counted_kinds = [counted(n, word) for word, n in counts.items() if n or word == "op"]
        attrs: dict[str, Attribute] = {
            "level": "op",
            "parameters": parameters,
            "caption": ", ".join(counted_kinds),
        }
        return Graph(clean(name), tuple(boxes), tuple(self.edges), tuple(groups), attrs)


# --- frames and depths -----------------------------------------------------------------------


def placed(
    boxes: Mapping[str, GraphNode],
    groups: Mapping[str, GraphGroup],
    edges: Sequence[GraphEdge],
    free: Iterable[str],
) -> tuple[list[GraphNode], list[GraphGroup]]:
    """Return the boxes and frames with their depths, deepest first.

    Parameters
    ----------
    boxes, groups : dict of id to GraphNode or GraphGroup
    edges : list of GraphEdge
        Arrows with a role lead back and do not affect depths.
    free : iterable of str
        Boxes that are placed in the innermost frame around all boxes they are connected to. A
        loop's placeholder counts as a box outside the loop.
    """
    paths = chains_of(groups.values())
    place = {box.id: box.group for box in boxes.values()}
    ends = dict(place)
    for box in boxes.values():
        if box.kind == "placeholder" and box.attrs["input_count"] == 1:  # inside a loop
            ends[box.id] = groups[box.group].parent
    place.update(_innermost(free, ends, paths, edges))
    depths = longest_paths([*boxes, *groups], _arrows_among_siblings(place, paths, edges))
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


def _innermost(
    free: Iterable[str],
    place: Mapping[str, str],
    paths: Mapping[str, Chain],
    edges: Sequence[GraphEdge],
) -> dict[str, str]:
    """Return, for each box in `free`, the innermost frame around all boxes it is connected to."""
    around: dict[str, Chain | None] = dict.fromkeys(free)
    for edge in edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in around and other not in around:
                path, before = paths[place[other]], around[one]
                around[one] = path if before is None else path[: shared_length(before, path)]
    return {one: path[-1] for one, path in around.items() if path is not None}


def _arrows_among_siblings(
    place: Mapping[str, str], paths: Mapping[str, Chain], edges: Sequence[GraphEdge]
) -> list[tuple[str, str]]:
    """Return the arrows between boxes as arrows between siblings: items of the same frame."""
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
    """Place unused placeholders, variables and constants in the deepest row of their frame."""
    used = {edge.source for edge in edges if "role" not in edge.attrs}
    deepest: dict[str, int] = {}
    for one, group in place.items():
        deepest[group] = max(deepest.get(group, 0), depths[one])
    for box in boxes.values():
        is_given = box.kind in ("placeholder", "variable", "constant")
        if is_given and box.id not in used and not box.attrs["outputs"]:
            depths[box.id] = deepest[place[box.id]]

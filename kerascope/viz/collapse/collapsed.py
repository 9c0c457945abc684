"""`collapsed(graph, closed)`: one box in place of each closed frame.

The box shows how many boxes it hides, and their parameters, shapes and outputs. `view.py` decides
which frames are closed. `blocks.py` finds the frames around repeated blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.viz.boxes import MOST_PORTS, caption_with
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import KIND_OF_CLASS
from kerascope.viz.nesting import hiding_of

# Frames of a ladder that are not calls: arrows between such a box and another are merged into one.
BUNDLES = {"card": "card", "cards": "card", "gradients": "gradient"}
# Attributes of calls, for closed frames that are not calls, so that every box has them.
_NO_CALL: dict[str, Attribute] = {"layer": "", "activation": "", "call": 0, "calls": 1}

PLACES = ("operand", "output", "leaves_as")  # attributes that identify the tensor of the arrow


def kind_of_group(group: GraphGroup) -> str:
    """Return the kind of a frame, such as "call", "scope", "copies" or "block"."""
    return str(group.attrs.get("kind", "call"))


def collapsed(graph: Graph, closed: Iterable[str]) -> Graph:
    """Return the graph with one box in place of each outermost closed frame.

    Parameters
    ----------
    graph : Graph
    closed : iterable of str
        Ids of frames.

    Returns
    -------
    Graph
        A closed frame's box has the frame's id, label, depth and attributes. It also has `members`
        (the number of hidden boxes), `parameters` (their sum), `outputs`, and the counts and shapes
        of its inputs and outputs.

    Raises
    ------
    ArgumentError
        The graph has no frame with one of these ids.

    Notes
    -----
    Arrows with both ends in one closed frame disappear. Other arrows are moved to its box. The box
    of a closed call has the operands of the call, one for each arrow. For the box of any other
    frame, each tensor from outside is one operand: arrows from the same output are merged, and
    `connections` counts them. For ranges of rows, all arrows from one box are merged, and inputs
    and outputs are not numbered. A tensor that no layer made stays visible if it is used outside
    the frame in which it was drawn. Uses inside another closed call do not count.

    Examples
    --------
    >>> boxes = GraphNode("x", "x", "input", depth=1), GraphNode("m/h", "h", "dense", "m")
    >>> graph = Graph("g", boxes, (GraphEdge("x", "m/h"),), (GraphGroup("m", "encoder"),))
    >>> small = collapsed(graph, ["m"])
    >>> [box.id for box in small.nodes], [(edge.source, edge.target) for edge in small.edges]
    (['x', 'm'], [('x', 'm')])
    """
    return _Collapse(graph, dict.fromkeys(closed)).result()


def check_groups(graph: Graph, ids: Iterable[str], where: str) -> None:
    """Raise an error if one of the ids does not belong to a frame.

    Raises
    ------
    ArgumentError
        The graph has no frame with this id.
    """
    known = {group.id: None for group in graph.groups}
    for one in ids:
        if one not in known:
            raise ArgumentError(
                f"{where}: there is no frame {one!r} in {graph.name!r}. "
                f"{did_you_mean(str(one), known)}Use one of: {', '.join([*known][:20])}."
            )


class _Collapse:
    """Replaces the closed frames of one graph by boxes.

    Attributes
    ----------
    box_of : dict of str to str
        The outermost closed frame around each box, by the box's id, or the box itself.
    """

    def __init__(self, graph: Graph, closed: dict[str, None]) -> None:
        check_groups(graph, closed, "collapsed")
        self.graph = graph
        self.groups = {group.id: group for group in graph.groups}
        self.hiding = hiding = hiding_of(graph, closed)
        self.nodes = {node.id: node for node in graph.nodes}
        self.box_of = {node.id: hiding[node.group] or node.id for node in graph.nodes}
        self.hidden: dict[str, list[GraphNode]] = {}
        self.moved: dict[str, GraphNode] = {}

    def result(self) -> Graph:
        """Return the graph with boxes in place of the closed frames."""
        self._free_tensors()
        for node in self.graph.nodes:
            if self.box_of[node.id] != node.id:
                self.hidden.setdefault(self.box_of[node.id], []).append(node)
        is_ladder = bool(self.graph.attrs.get("ladder"))
        ports = {group: _Ports(self.groups[group], is_ladder) for group in self.hidden}
        edges = self._edges(ports)
        nodes = self._boxes(ports)
        attrs = dict(self.graph.attrs)
        blocks = [group for group in self.hidden if kind_of_group(self.groups[group]) != "call"]
        if blocks:
            count = sum(len(self.hidden[group]) for group in blocks)
            frames = (
                "1 closed frame holds" if len(blocks) == 1 else f"{len(blocks)} closed frames hold"
            )
            words = f"{frames} {count:,} boxes"
            attrs["caption"] = caption_with(attrs, words)
        return Graph.trusted(self.graph.name, nodes, edges, self._frames(nodes), attrs)

    # --- boxes ------------------------------------------------------------------------------------

    def _free_tensors(self) -> None:
        """If a tensor that no layer made is used outside its closed frame, move its box outside."""
        tensors = {
            node.id: node
            for node in self.graph.nodes
            if node.kind == "tensor" and self.hiding[node.group]
        }
        users: dict[str, list[GraphEdge]] = {}
        for edge in self.graph.edges if tensors else ():
            if edge.source in tensors and not self._is_inner_use(edge):
                users.setdefault(edge.source, []).append(edge)
        for one, edges in users.items():
            frame = self.groups[self.box_of[one]]
            if all(self.box_of[edge.target] == frame.id for edge in edges):
                continue
            near = [self._visible_depth(edge.target, frame.parent) for edge in edges]
            depth = 1 + max([frame.depth, *near])
            self.moved[one] = replace(tensors[one], group=frame.parent, depth=depth)
            self.box_of[one] = one

    def _visible_depth(self, node_id: str, around: str) -> int:
        box = self.groups.get(self.box_of[node_id], self.nodes[node_id])
        inside = box.parent if isinstance(box, GraphGroup) else box.group
        return box.depth if inside == around else 0

    def _is_inner_use(self, edge: GraphEdge) -> bool:
        """Return whether an arrow leads from a tensor in a closed frame into another closed call.

        The tensor must have a box of its own, because no layer made it.
        """
        source, target = self.nodes[edge.source], self.nodes[edge.target]
        frame = self.hiding[target.group]
        return bool(
            source.kind == "tensor"
            and target.kind != "input"
            and frame
            and self.hiding[source.group]
            and self.hiding[source.group] != frame
            and kind_of_group(self.groups[frame]) == "call"
        )

    def _boxes(self, ports: dict[str, _Ports]) -> tuple[GraphNode, ...]:
        boxes: dict[str, GraphNode] = {}
        for node in self.graph.nodes:
            box_id = self.box_of[node.id]
            if box_id == node.id:
                boxes[box_id] = self._still_shared(self.moved.get(box_id, node))
            elif box_id not in boxes:
                boxes[box_id] = self._closed_box(self.groups[box_id], ports[box_id])
        return tuple(boxes.values())

    def _still_shared(self, node: GraphNode) -> GraphNode:
        """Return a box, with the attribute `shared_with` changed if it is the id of a hidden box.

        It becomes the id of the closed frame around the hidden box.
        """
        shared = str(node.attrs.get("shared_with", ""))
        if self.box_of.get(shared, shared) == shared:
            return node
        return replace(node, attrs={**node.attrs, "shared_with": self.box_of[shared]})

    def _closed_box(self, group: GraphGroup, ports: _Ports) -> GraphNode:
        hidden = self.hidden[group.id]
        is_call = kind_of_group(group) == "call"
        attrs = {key: value for key, value in group.attrs.items() if key != "kind"}
        if not is_call:
            attrs = {**_NO_CALL, **attrs, **ports.attributes(hidden)}
            own = attrs.get("class_name") or "Scope"  # a module of another library has a class
            attrs["class_name"] = own if kind_of_group(group) == "scope" else "Block"
            if kind_of_group(group) in BUNDLES:
                attrs["class_name"] = ""
            attrs["trainable"] = any(bool(node.attrs.get("trainable")) for node in hidden)
        if BUNDLES.get(kind_of_group(group)) == "card":
            attrs["detail"] = _columns(hidden)
        else:
            attrs["parameters"] = sum(int(node.attrs.get("parameters", 0)) for node in hidden)
        attrs["shared_with"] = self._shared_with(group.id)
        attrs["outputs"] = _outputs(hidden)
        attrs["members"] = len(hidden)
        kind = _kind_of_box(group)
        return GraphNode(group.id, group.label, kind, group.parent, group.depth, attrs)

    def _shared_with(self, group: str) -> str:
        """Return the id of an earlier closed frame that has all weights of this one, or ""."""
        hidden = self.hidden[group]
        weighted = [
            node for node in hidden if node.attrs.get("parameters") or node.attrs.get("shared_with")
        ]
        owners = dict.fromkeys(str(node.attrs.get("shared_with", "")) for node in weighted)
        frames = [*dict.fromkeys(self.box_of.get(owner, "") for owner in owners)]
        if len(frames) != 1 or frames[0] == group:
            return ""
        return frames[0] if len(self.hidden.get(frames[0], ())) == len(hidden) else ""

    # --- arrows and frames ------------------------------------------------------------------------

    def _edges(self, ports: dict[str, _Ports]) -> tuple[GraphEdge, ...]:
        edges: dict[tuple[object, ...], GraphEdge] = {}
        counts: dict[tuple[object, ...], int] = {}
        several_shapes: dict[tuple[object, ...], None] = {}
        for number, edge in enumerate(self.graph.edges):
            source, target = self.box_of[edge.source], self.box_of[edge.target]
            if source == target or self._is_inner_use(edge):
                continue
            key: tuple[object, ...] = (number,)
            is_one = False
            if source in ports or target in ports:
                attrs = dict(edge.attrs)
                if source in ports and not self._leaves_a_rail(edge):
                    attrs["output"] = ports[source].output(edge, self._leave_call(edge, attrs))
                if target in ports and not self._comes_from_a_card(edge):
                    attrs["operand"] = ports[target].operand(edge, source)
                merges = target in ports and ports[target].merges
                is_one = target in ports and ports[target].is_read_inside and "operand" in attrs
                if merges or is_one or (source in ports and ports[source].is_bundle):
                    role = attrs.get("role", ""), "operand_of" in attrs
                    key = (source, attrs.get("output"), target, attrs.get("operand"), *role)
                label = edge.label
                if source in ports and ports[source].is_bundle:
                    label = ""  # the attribute names a hidden call
                    attrs.pop("via", None)
                edge = GraphEdge(source, target, label, attrs)
            connections = int(edge.attrs.get("connections", 1))
            counts[key] = connections if is_one else counts.get(key, 0) + connections
            if edges.setdefault(key, edge).attrs.get("shape") != edge.attrs.get("shape"):
                several_shapes[key] = None
        for key, count in counts.items():
            if count > 1:
                edges[key] = _joined(edges[key], count, key in several_shapes)
        return tuple(edges.values())

    def _leaves_a_rail(self, edge: GraphEdge) -> bool:
        """Return whether an arrow leaves a ladder's rail, as to a loss: it has no output index."""
        return bool(self.graph.attrs.get("ladder")) and "output" not in edge.attrs

    def _comes_from_a_card(self, edge: GraphEdge) -> bool:
        """Return whether an arrow comes from a card of a ladder: it has no operand index."""
        return bool(self.graph.attrs.get("ladder")) and "operand" not in edge.attrs

    def _leave_call(self, edge: GraphEdge, attrs: dict[str, Attribute]) -> int | None:
        """Return the index of the output at which an arrow leaves a closed call.

        It is None if the closed frame is not a call, or if the index is not recorded. The indices
        for the frame and the calls inside it are removed from the arrow's attributes `attrs`.
        """
        outputs = str(edge.attrs.get("leaves_as", "")).split(", ")
        if outputs == [""]:
            return None
        group, left = self.nodes[edge.source].group, 0
        frame = self.box_of[edge.source]
        while True:
            left += kind_of_group(self.groups[group]) == "call"
            if group == frame:
                break
            group = self.groups[group].parent
        del attrs["leaves_as"]
        if len(outputs) > left:
            attrs["leaves_as"] = ", ".join(outputs[left:])
        is_call = kind_of_group(self.groups[frame]) == "call"
        return int(outputs[left - 1]) if is_call and left <= len(outputs) else None

    def _frames(self, nodes: tuple[GraphNode, ...]) -> tuple[GraphGroup, ...]:
        """Return the open frames that are not empty."""
        filled = {"": None}
        for node in nodes:
            group = node.group
            while group not in filled:
                filled[group] = None
                group = self.groups[group].parent
        return tuple(group for group in self.graph.groups if group.id in filled)


class _Ports:
    """Assigns indices to the inputs and outputs of a closed frame, in the order of its arrows."""

    def __init__(self, group: GraphGroup, is_ladder: bool) -> None:
        self.merges = kind_of_group(group) != "call"
        # On a ladder, inner input layers are not drawn: each reader of an input has its own arrow.
        self.is_read_inside = is_ladder and not self.merges
        self.is_bundle = kind_of_group(group) in BUNDLES
        self.is_range = kind_of_group(group) == "rows" or self.is_bundle
        self._inputs: dict[object, int] = {}
        self._outputs: dict[tuple[str, object], int] = {}
        self._input_shapes: list[str] = []
        self._first_outputs: list[GraphEdge] = []
        shapes = str(group.attrs.get("output_shapes", "")).split("; ")
        self._free = [] if self.merges else [*enumerate(shapes)]

    def operand(self, edge: GraphEdge, box: str) -> int:
        """Return the index of the closed frame's input at which an arrow from `box` ends."""
        key: object = (edge.source, edge.attrs.get("output"))
        if not self.merges and not self.is_read_inside:
            key = len(self._inputs)
        if self.is_range:
            key = box
        if key not in self._inputs:
            self._inputs[key] = len(self._inputs)
            self._input_shapes.append(str(edge.attrs.get("shape", "")))
        return self._inputs[key]

    def output(self, edge: GraphEdge, known: int | None) -> int:
        """Return the index of the output of the closed frame at which an arrow starts.

        If the index of a call's output is unknown, the arrow gets the first output with its shape
        that no other tensor has or, if no shape matches, the first output that no other tensor has.
        """
        if known is not None:
            return known
        key = edge.source, edge.attrs.get("output")
        if self.is_range:
            key = "", None
        if key not in self._outputs:
            fitting = [entry for entry in self._free if entry[1] == edge.attrs.get("shape")]
            if fitting or self._free:
                entry = (fitting or self._free)[0]
                self._free.remove(entry)
                self._outputs[key] = entry[0]
            else:
                self._outputs[key] = len(self._outputs)
            self._first_outputs.append(edge)
        return self._outputs[key]

    def attributes(self, hidden: list[GraphNode]) -> dict[str, Attribute]:
        """Return attributes with the counts and shapes of a closed frame's inputs and outputs.

        Call it only for frames that are not calls: the frame of a call has these attributes
        already.
        """
        if self.is_bundle:
            last = hidden[-1].attrs
            shapes_or_none = "" if "line" in last else str(last.get("output_shapes", ""))
            return {"output_shapes": shapes_or_none, "dtype": str(last.get("dtype", ""))}
        if self.is_range:
            return {
                "input_count": len(self._inputs),
                "output_count": 1,
                "input_shapes": "",
                "output_shapes": "",
                "dtype": "",
            }
        shapes = [str(edge.attrs.get("shape", "")) for edge in self._first_outputs]
        dtypes = [str(edge.attrs.get("dtype", "")) for edge in self._first_outputs]
        leaving = {box for box, _ in self._outputs}
        for node in hidden:
            if node.attrs.get("outputs") and node.id not in leaving:
                shapes.append(str(node.attrs.get("output_shapes", "")))
                dtypes.append(str(node.attrs.get("dtype", "")))
        return {
            "input_count": len(self._inputs),
            "output_count": len(shapes),
            "input_shapes": "; ".join(self._input_shapes),
            "output_shapes": "; ".join(shapes),
            "dtype": dtypes[0] if dtypes else str(hidden[-1].attrs.get("dtype", "")),
        }


def _joined(edge: GraphEdge, count: int, several_shapes: bool) -> GraphEdge:
    """Return the arrow that replaces several arrows between the same two boxes."""
    attrs = {**edge.attrs, "connections": count}
    if several_shapes:
        attrs["shape"] = ""
    return GraphEdge(edge.source, edge.target, edge.label, attrs)


def _columns(hidden: list[GraphNode]) -> str:
    """Return a text with the number of boxes in each column of a card, without new slot values."""
    counts: dict[str, int] = {}
    for node in hidden:
        column = str(node.attrs.get("column", ""))
        if column and (node.kind != "update" or column == "new"):
            counts[column] = counts.get(column, 0) + 1
    first = ("weight", "via", "gradient")
    order = [column for column in first if column in counts]
    order += [column for column in counts if column not in (*first, "new")]
    order += [column for column in ("new",) if column in counts]
    return " \u00b7 ".join(f"{column} \u00d7 {counts[column]}" for column in order)


def _kind_of_box(group: GraphGroup) -> str:
    kind = kind_of_group(group)
    if kind in BUNDLES:
        return BUNDLES[kind]
    if kind == "call":
        return KIND_OF_CLASS.get(str(group.attrs.get("class_name", "")), "model")
    return kind if kind in ("scope", "layer", "op") else "block"


def _outputs(hidden: list[GraphNode]) -> str:
    """Return the names of the model's outputs among the hidden boxes, in order."""
    names = [
        name for node in hidden for name in str(node.attrs.get("outputs", "")).split(", ") if name
    ]
    return ", ".join(sorted(names, key=lambda name: (len(name), name)))


# --- merging arrows between the same two boxes ----------------------------------------------------


def bundled(graph: Graph) -> Graph:
    """Return a graph in which many equal tensors between two boxes are one thick arrow.

    Arrows are bundled if a box has too few cells for them. The thick arrow is labelled "200 x
    (None, 8)". It does not show which operand each tensor is.

    Examples
    --------
    >>> boxes = GraphNode("parts", "parts", "layer"), GraphNode("sum", "sum", "merge")
    >>> facts = [{"operand": i, "shape": "(8,)"} for i in range(99)]
    >>> edges = [GraphEdge("parts", "sum", "", attrs) for attrs in facts]
    >>> bundled(Graph("g", boxes, tuple(edges))).edges
    (GraphEdge(source='parts', target='sum', label='99 x (8,)', attrs={'shape': '(8,)', 'role':
    'bundle', 'connections': 99}),)
    """
    pairs = Counter((edge.source, edge.target) for edge in graph.edges)
    if max(pairs.values(), default=0) <= MOST_PORTS:
        return graph
    alike: dict[tuple[object, ...], list[GraphEdge]] = {}
    for number, edge in enumerate(graph.edges):
        rest = {k: v for k, v in edge.attrs.items() if k not in PLACES}
        is_many = pairs[edge.source, edge.target] > MOST_PORTS and "role" not in rest
        key = (edge.source, edge.target, edge.label, *rest.items()) if is_many else (number,)
        alike.setdefault(key, []).append(edge)
    edges = tuple(x for same in alike.values() for x in _bundle(same))
    ends = {end for x in edges if x.attrs.get("role") == "bundle" for end in (x.source, x.target)}
    arriving = Counter(edge.target for edge in edges)
    leaving = Counter(edge.source for edge in edges)
    nodes = tuple(
        replace(box, attrs={**box.attrs, "arrows": max(arriving[box.id], leaving[box.id])})
        if box.id in ends
        else box
        for box in graph.nodes
    )
    return replace(graph, nodes=nodes, edges=edges)


def _bundle(edges: list[GraphEdge]) -> list[GraphEdge]:
    """Return more than `MOST_PORTS` equal arrows as one thick arrow, and fewer unchanged."""
    if len(edges) <= MOST_PORTS:
        return edges
    first = edges[0]
    attrs = {k: v for k, v in first.attrs.items() if k not in PLACES}
    count = sum(int(edge.attrs.get("connections", 1)) for edge in edges)
    label = " ".join(filter(None, [f"{count} x", str(attrs.get("shape", "")), first.label]))
    more: dict[str, Attribute] = {"role": "bundle", "connections": count}
    return [GraphEdge(first.source, first.target, label, {**attrs, **more})]

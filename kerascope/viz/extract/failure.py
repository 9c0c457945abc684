"""Failure pictures: the part of a graph that was built before an error, and where it failed.

An error raised by calling a layer, or by `Model(inputs, outputs)`, refers to the tensors involved
(see `engine.node`). `failure_graph` draws the calls that made these tensors and marks the failed
one. Its box shows the expected and the given input. ::

    try:
        scores = Dense(10)(LSTM(32)(flat))
    except ValueError as error:
        picture = failure_graph(error)

The first part of this module draws the failure. The second part collects the calls behind a list of
tensors.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import merge_shapes
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import clean
from kerascope.engine.policies.failure import FailedCall, FailedGraph
from kerascope.errors import ArgumentError, CycleError, DisconnectedGraphError, KerascopeError
from kerascope.trace.records import counted
from kerascope.viz.extract.layers import (
    CallFacts,
    End,
    GraphBuilder,
    attributes_without_layer,
    layer_attributes,
    shapes_text,
)
from kerascope.viz.graph import Attribute, Graph, GraphGroup, GraphNode
from kerascope.viz.kinds import kind_of
from kerascope.viz.nesting import below
from kerascope.viz.overlays.marking import mark

_EXPECTED = re.compile(r"\bexpected (.+?)(?:, got (.+?))?(?:\.\s|\.$|;|$)", re.DOTALL)
_END_OF_REASON = re.compile(r";|\.\s|\.$")


def failure_graph(error: BaseException) -> Graph:
    """Return the part of the graph that was built before an error, with the failed call marked.

    Parameters
    ----------
    error : Exception
        Raised by calling a layer on symbolic tensors, or by `Model(inputs, outputs)`. An error
        raised `from` such an error works, too.

    Returns
    -------
    Graph
        The failed box has the state "failed", a short reason as its `note`, and the expected and
        the given shapes as its `detail`. Frames around it are the calls inside which it failed. The
        graph's `message` is the text of the error.

    Raises
    ------
    ArgumentError
        The error does not concern a graph of layers.

    Examples
    --------
    >>> from kerascope.layers import LSTM, Input
    >>> try:
    ...     LSTM(3, name="reader")(Input(shape=(4,), name="x"))
    ... except ValueError as error:
    ...     graph = failure_graph(error)
    >>> [(node.id, node.attrs.get("state", "")) for node in graph.nodes]
    [('x', ''), ('reader', 'failed')]
    >>> print(graph.node("reader").attrs["detail"].splitlines()[:2])
    ['expected an input with 3 axes (batch, time, features)', 'got 2 (None, 4)']
    """
    seen: list[BaseException] = []
    one: BaseException | None = error
    while isinstance(one, BaseException) and one not in seen:
        call, graph = getattr(one, "failed_call", None), getattr(one, "failed_graph", None)
        if isinstance(call, FailedCall):
            return _picture_of_call(one, call)
        if isinstance(graph, FailedGraph):
            return _picture_of_graph(one, graph)
        seen.append(one)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    raise ArgumentError(
        f"draw: {type(error).__name__} does not concern a graph of layers: "
        f"{_flat(str(error))[:60]!r}. Draw an error raised by calling a layer on Input(...) or "
        f"another layer's output, or by Model(inputs, outputs)."
    )


# --- a call ---------------------------------------------------------------------------------------


def _picture_of_call(error: BaseException, call: FailedCall) -> Graph:
    picture = PartialGraph(call.makers)
    group = ""
    drawn: dict[Node, None] = {}
    for layer, tensors in [*reversed(call.around), (call.layer, call.tensors)]:
        nodes = [node for node in ordered_calls(tensors, call.makers) if node not in drawn]
        drawn |= dict.fromkeys(nodes)
        picture.add_calls(nodes, group, failing=layer)
        before = sum(node.outbound_layer is layer for node in nodes)
        box_id = picture.free_id(call_name(layer, before, before + 1, group))
        facts = CallFacts([x.shape for x in tensors], [], str(tensors[0].dtype), before, before + 1)
        if layer is not call.layer or tensors is not call.tensors:
            attrs = {
                **layer_attributes(layer),
                **facts.attributes,
                **mark("failed"),
                "kind": "call",
            }
            picture.groups.append(GraphGroup(box_id, clean(layer.name), group, 0, attrs))
            group = box_id
    picture.add_box(box_id, call.layer, facts, group)
    picture.add_edges(call.tensors, box_id, group, state="failed")
    detail = "\n".join(_details(error, call))
    picture.mark(box_id, **mark("failed", _reason(error)), detail=detail)
    count = counted(sum(not node.is_input for node in drawn), "call")
    caption = f"{call.layer.label} failed: {_reason(error)}. {count} before it"
    return picture.finished(f"{clean(call.layer.name)} failed", _attributes(error, caption))


def _details(error: BaseException, call: FailedCall) -> list[str]:
    """Return lines with the expected and the given input, and where the layer was created."""
    subject = getattr(error, "subject", None)
    inner = isinstance(subject, Layer) and subject is not call.layer
    given = "" if inner else _shapes_of(call)
    found = _EXPECTED.search(str(error))
    expected, got = (found[1], found[2]) if found else ("", None)
    own_shapes = _expected_shapes(call)
    if own_shapes:
        expected, got, inner, given = own_shapes, None, False, _shapes_of(call)
    both = [x for x in (got, given) if x and not any(x in y and x != y for y in (got or "", given))]
    words = ": ".join(dict.fromkeys(both))
    lines = [
        f"inside it: {subject.label}" if isinstance(subject, Layer) and inner else "",
        f"expected {_flat(expected)}" if expected else "",
        f"got {_flat(words)}" if words else "",
    ]
    if call.layer.made_at is not None:
        path, line = call.layer.made_at
        lines.append(f"made at {PurePath(path).name}, line {line}")
    return [line for line in lines if line]


def _shapes_of(call: FailedCall) -> str:
    return shapes_text([x.shape for x in call.tensors])


def _expected_shapes(call: FailedCall) -> str:
    """Return the input shapes that a nested model expects if the given shapes do not fit."""
    if not isinstance(call.layer, Network) or not call.layer.inputs:
        return ""
    wanted, given = [x.shape for x in call.layer.inputs], [x.shape for x in call.tensors]
    fits = len(wanted) == len(given) and all(
        merge_shapes(x, y) is not None for x, y in zip(wanted, given, strict=True)
    )
    return "" if fits else shapes_text(wanted)


def _reason(error: BaseException) -> str:
    """Return the first clause of an error's text, without the layer's label at the beginning."""
    text = _flat(str(error))
    subject = getattr(error, "subject", None)
    call = getattr(error, "failed_call", None)
    labels = [getattr(layer, "label", "") for layer in (subject, getattr(call, "layer", None))]
    for label in (*labels, getattr(getattr(error, "failed_graph", None), "class_name", "")):
        text = text.removeprefix(f"{label}: ")
    first = _END_OF_REASON.split(text, maxsplit=1)[0].strip()
    if isinstance(error, KerascopeError):
        return first
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _flat(text: str) -> str:
    return " ".join(text.split())


def _attributes(error: BaseException, caption: str) -> dict[str, Any]:
    return {"caption": caption, "message": f"{type(error).__name__}: {error}"}


# --- a model --------------------------------------------------------------------------------------


def _picture_of_graph(error: BaseException, failed: FailedGraph) -> Graph:
    picture = PartialGraph(failed.makers)
    inputs = [x for x in failed.inputs if isinstance(x, Tensor)]
    outputs = [y for y in failed.outputs if isinstance(y, Tensor)]
    nodes = ordered_calls([*outputs, *inputs], failed.makers, begin=set(inputs))
    picture.add_calls(nodes)
    picture.mark_outputs(picture.end_of(tensor, "").box for tensor in outputs)
    for tensor in inputs:
        picture.mark(picture.end_of(tensor, "").box, **mark("highlight", "given as input"))
    for what, given in (("input", failed.inputs), ("output", failed.outputs)):
        for number, x in enumerate(given):
            if not isinstance(x, Tensor):
                _add_stranger(picture, what, number, x)
    _mark_failure(picture, error, failed, nodes)
    caption = f"{failed.class_name} failed: {_reason(error)}"
    return picture.finished(f"{failed.class_name} failed", _attributes(error, caption))


def _add_stranger(picture: PartialGraph, what: str, number: int, given: Any) -> None:
    """Add a box for an input or output of the model that is not a tensor."""
    shape = getattr(given, "shape", None)
    box_id = picture.free_id(f"{what} {number}")
    facts = CallFacts([], [tuple(shape)] if isinstance(shape, tuple) else [], "")
    class_name = type(given).__name__
    attrs = {
        **attributes_without_layer(class_name, facts),
        **mark("failed", f"not a tensor but {class_name}"),
    }
    picture.boxes[box_id] = GraphNode(box_id, f"{what} {number}", "tensor", attrs=attrs)


def _mark_failure(
    picture: PartialGraph, error: BaseException, failed: FailedGraph, nodes: list[Node]
) -> None:
    subject = getattr(error, "subject", None)
    if isinstance(error, DisconnectedGraphError):
        _mark_disconnected(picture, failed, nodes)
    elif isinstance(error, CycleError):
        for node in error.cycle:
            picture.mark(picture.ids[node], **mark("failed", "part of a cycle"))
    elif isinstance(subject, Tensor):
        picture.mark(picture.end_of(subject, "").box, **mark("failed", _reason(error)))
    else:
        _mark_repeated(picture, failed, nodes)


def _mark_disconnected(picture: PartialGraph, failed: FailedGraph, nodes: list[Node]) -> None:
    """Mark Inputs that were not passed to `Model(...)`, and every call that depends on them."""
    given = {x for x in failed.inputs if isinstance(x, Tensor)}
    lacking: dict[Node, str] = {}
    for node in nodes:
        if all(y in given for y in node.output_tensors):
            continue
        if node.is_input:
            lacking[node] = node.outbound_layer.name
            picture.mark(picture.ids[node], **mark("failed", "not among the inputs"))
            continue
        makers = [failed.makers.get(x) for x in node.input_tensors if x not in given]
        missing = dict.fromkeys(lacking[maker] for maker in makers if maker in lacking)
        if missing:
            lacking[node] = next(iter(missing))
            picture.mark(picture.ids[node], **mark("pending", f"needs {', '.join(missing)}"))


def _mark_repeated(picture: PartialGraph, failed: FailedGraph, nodes: list[Node]) -> None:
    """Mark calls of layers that share a name, and inputs given more than once, as failed."""
    layers: dict[str, dict[Layer, None]] = {}
    for node in nodes:
        layers.setdefault(node.outbound_layer.name, {})[node.outbound_layer] = None
    for node in nodes:
        count = len(layers[node.outbound_layer.name])
        if count > 1:
            picture.mark(picture.ids[node], **mark("failed", f"{count} layers have this name"))
    inputs = [x for x in failed.inputs if isinstance(x, Tensor)]
    for x in dict.fromkeys(inputs):
        if inputs.count(x) > 1:
            note = f"given {inputs.count(x)} times"
            picture.mark(picture.end_of(x, "").box, **mark("failed", note))


# --- the calls behind a list of tensors -----------------------------------------------------------
#
# Used for failure pictures, where there is no model yet, only tensors and the calls that made them.
# The graph of a model comes from its own map instead (`nodes.py`).

Makers = Mapping[Tensor, Node]


def ordered_calls(
    tensors: Iterable[Tensor], makers: Makers, begin: Container[Tensor] = ()
) -> list[Node]:
    """Return the calls that made these tensors, in the order in which they are computed.

    Parameters
    ----------
    tensors : iterable of Tensor
    makers : mapping of Tensor to Node
    begin : container of Tensor
        Tensors at which the search stops: calls that lead only to these tensors are left out.
    """
    finished: dict[Node, None] = {}
    in_progress: dict[Node, Iterator[Tensor]] = {}
    for tensor in tensors:
        waiting: list[Tensor] = [tensor]
        while waiting or in_progress:
            if waiting:
                x = waiting.pop()
                node = makers.get(x)
                if node is not None and node not in finished and node not in in_progress:
                    needs = [] if node.is_input or x in begin else node.input_tensors
                    in_progress[node] = iter(needs)
                continue
            node, rest = next(reversed(in_progress.items()))
            following = next(rest, None)
            if following is None:
                del in_progress[node]
                finished[node] = None
            else:
                waiting.append(following)
    return list(finished)


class PartialGraph(GraphBuilder):
    """Collects boxes, arrows and frames for the calls of a model that could not be built.

    Parameters
    ----------
    makers : mapping of Tensor to Node
        The call that made each tensor.
    """

    def __init__(self, makers: Makers) -> None:
        super().__init__()
        self.makers = makers
        self.groups: list[GraphGroup] = []
        self.ids: dict[Node, str] = {}

    def add_calls(
        self, nodes: Sequence[Node], group: str = "", failing: Layer | None = None
    ) -> None:
        """Add a box for each call, and the arrows to these boxes.

        The failed call of the layer `failing` is not among the calls. It counts as the last call
        of this layer when the calls get their numbers.
        """
        calls: dict[Layer, list[Node]] = {}
        for node in nodes:
            calls.setdefault(node.outbound_layer, []).append(node)
        for layer, made in calls.items():
            made.sort(key=lambda node: node.node_index)
            count = len(made) + (layer is failing)
            for number, node in enumerate(made):
                box_id = self.free_id(call_name(layer, number, count, group))
                self.ids[node] = box_id
                inputs = [] if node.is_input else node.input_tensors
                dtype = str(node.output_tensors[0].dtype)
                shapes = [x.shape for x in inputs], [y.shape for y in node.output_tensors]
                self.add_box(box_id, layer, CallFacts(*shapes, dtype, number, count), group)
        self.boxes = {
            **{name: box for name, box in self.boxes.items() if box.group != group},
            **{self.ids[node]: self.boxes[self.ids[node]] for node in nodes},
        }
        for node in nodes:
            if not node.is_input:
                self.add_edges(node.input_tensors, self.ids[node], group)

    def add_box(self, box_id: str, layer: Layer, facts: CallFacts, group: str = "") -> None:
        """Add the box of one call of a layer."""
        attrs = self.attributes_of(layer, facts, box_id)
        self.boxes[box_id] = GraphNode(box_id, clean(layer.name), kind_of(layer), group, 0, attrs)

    def add_edges(
        self, tensors: Sequence[Tensor], target: str, group: str, state: str = ""
    ) -> None:
        """Add the arrows to a box, one for each of the input tensors."""
        for operand, tensor in enumerate(tensors):
            if tensor in self.makers and self.makers[tensor] not in self.ids:
                continue  # calls before the given inputs are not drawn
            more = {"state": state} if state else {}
            source, end = self.end_of(tensor, group), End(target, operand)
            self.add_edge(source, end, tensor.shape, str(tensor.dtype), **more)

    def end_of(self, tensor: Tensor, group: str) -> End:
        """Return the box and the output index at which the arrows of a tensor start.

        A tensor that no layer made gets its own box.
        """
        node = self.makers.get(tensor)
        if node is not None and node in self.ids:
            return End(self.ids[node], node.output_tensors.index(tensor))
        is_new = tensor not in self.tensor_boxes
        box_id = self.tensor_box(tensor, group, 0, f"{group}/" if group else "")
        if is_new:
            self.add_edges(self._drawn_sources(tensor), box_id, group)
        return End(box_id, 0)

    def finished(self, name: str, attrs: Mapping[str, Attribute]) -> Graph:
        """Return the graph of the collected boxes, arrows and frames.

        The depth of a box is its longest path to an output within its frame.
        """
        depths = self._depths()
        nodes = [replace(box, depth=depths[name]) for name, box in self.boxes.items()]
        nodes.sort(key=lambda box: -box.depth)
        parameters = sum(int(box.attrs["parameters"]) for box in nodes)
        whole = {"level": "node", "parameters": parameters, **attrs}
        return Graph(clean(name), tuple(nodes), tuple(self.edges), tuple(self.groups), whole)

    def _drawn_sources(self, tensor: Tensor) -> list[Tensor]:
        """Return the nearest drawn tensors that lead to the given tensor through ops only."""
        sources: dict[Tensor, None] = {}
        seen: set[Tensor] = set()
        waiting = [tensor]
        while waiting:
            x = waiting.pop()
            if x in seen:
                continue
            seen.add(x)
            maker = self.makers.get(x)
            if maker is not None and maker in self.ids:
                sources[x] = None
            elif x.owner is not None:
                waiting.extend(reversed(x.owner.inputs))
        return list(sources)

    def _depths(self) -> dict[str, int]:
        users: dict[str, list[str]] = {name: [] for name in self.boxes}
        missing = dict.fromkeys(self.boxes, 0)  # a box's number of targets that have no depth yet
        for edge in self.edges:
            users[edge.target].append(edge.source)
            missing[edge.source] += 1
        depths = dict.fromkeys(self.boxes, 0)
        ready = [name for name, count in missing.items() if not count]
        while ready:
            target = ready.pop()
            for source in users[target]:
                is_inside = self.boxes[source].group == self.boxes[target].group
                depths[source] = max(depths[source], depths[target] * is_inside + 1)
                missing[source] -= 1
                if not missing[source]:
                    ready.append(source)
        return depths


def call_name(layer: Layer, number: int, count: int, group: str = "") -> str:
    """Return the id of a call: the layer's name, and its number if there are several calls."""
    return below(group, layer.name if count == 1 else f"{layer.name}@{number}")

"""Failure pictures: from an error to the graph as far as it was built, and where it broke.

An error of a layer's call, or of `Model(inputs, outputs)`, remembers the tensors that it was about
(see `engine.failures`). `failure_graph` draws the calls that made them, and marks what failed: its
box says what was expected and what came. ::

    try:
        scores = Dense(10)(LSTM(32)(flat))
    except ValueError as error:
        picture = failure_graph(error)
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import merge_shapes
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import FailedCall, FailedGraph, Node
from kerascope.errors import ArgumentError, CycleError, DisconnectedGraphError, KerascopeError
from kerascope.trace.records import counted
from kerascope.viz.extract.layer_facts import (
    CallFacts,
    layer_attributes,
    shapes_text,
    with_output,
)
from kerascope.viz.extract.partial_graph import PartialGraph, call_name, ordered_calls
from kerascope.viz.graph import Attribute, Graph, GraphGroup, GraphNode
from kerascope.viz.overlays.marking import mark

_EXPECTED = re.compile(r"\bexpected (.+?)(?:, got (.+?))?(?:\.\s|\.$|;|$)", re.DOTALL)
_END_OF_REASON = re.compile(r";|\.\s|\.$")


def failure_graph(error: BaseException) -> Graph:
    """Return the graph as far as it was built, with what failed marked.

    Parameters
    ----------
    error : Exception
        Raised by calling a layer on symbolic tensors, or by `Model(inputs, outputs)`. One that was
        raised `from` such an error will do.

    Returns
    -------
    Graph
        The failed box has the state "failed", a short reason as its `note`, and what was expected
        and what came as its `detail`. Calls inside which it failed are frames around it. `message`
        of the whole is the error's text.

    Raises
    ------
    ArgumentError
        The error has nothing to do with a graph of layers.

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
    ['expected 3: (batch, time, features)', 'got (None, 4)']
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
        f"draw: there is nothing to draw of {type(error).__name__}: {_flat(str(error))[:60]!r}; "
        f"expected an error raised by calling a layer on Input(...) or another layer's output, or "
        f"by Model(inputs, outputs)."
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
            picture.groups.append(GraphGroup(box_id, _name(layer), group, 0, attrs))
            group = box_id
    picture.add_box(box_id, call.layer, facts, group)
    picture.add_edges(call.tensors, box_id, group, state="failed")
    detail = "\n".join(_details(error, call))
    picture.mark(box_id, **mark("failed", _reason(error)), detail=detail)
    count = counted(sum(not node.is_input for node in drawn), "call")
    caption = f"{call.layer.label} failed: {_reason(error)}. {count} before it"
    return picture.finished(f"{_name(call.layer)} failed", _attributes(error, caption))


def _details(error: BaseException, call: FailedCall) -> list[str]:
    """Return what was expected, what came, and where to look."""
    subject = getattr(error, "subject", None)
    inner = isinstance(subject, Layer) and subject is not call.layer
    came = "" if inner else _shapes_of(call)
    found = _EXPECTED.search(str(error))
    expected, got = (found[1], found[2]) if found else ("", None)
    own_shapes = _expected_shapes(call)
    if own_shapes:
        expected, got, inner, came = own_shapes, None, False, _shapes_of(call)
    words = ": ".join(filter(None, [got if got and got not in came else "", came]))
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
    """Return the shapes that a nested model wants, if they are not those that came."""
    if not isinstance(call.layer, Network) or not call.layer.inputs:
        return ""
    wanted, came = [x.shape for x in call.layer.inputs], [x.shape for x in call.tensors]
    fits = len(wanted) == len(came) and all(
        merge_shapes(x, y) is not None for x, y in zip(wanted, came, strict=True)
    )
    return "" if fits else shapes_text(wanted)


def _reason(error: BaseException) -> str:
    """Return the first clause of an error's text, without the label of the layer before it."""
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


def _name(layer: Layer) -> str:
    return str(layer_attributes(layer)["layer"])


def _attributes(error: BaseException, caption: str) -> dict[str, Any]:
    return {"caption": caption, "message": f"{type(error).__name__}: {error}"}


# --- a model --------------------------------------------------------------------------------------


def _picture_of_graph(error: BaseException, failed: FailedGraph) -> Graph:
    picture = PartialGraph(failed.makers)
    inputs = [x for x in failed.inputs if isinstance(x, Tensor)]
    outputs = [y for y in failed.outputs if isinstance(y, Tensor)]
    nodes = ordered_calls([*outputs, *inputs], failed.makers, begin=set(inputs))
    picture.add_calls(nodes)
    for number, tensor in enumerate(outputs):
        box_id = picture.end_of(tensor, "").box
        name = "output" if len(outputs) == 1 else f"output {number}"
        picture.boxes[box_id] = with_output(picture.boxes[box_id], name)
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
    """Add a box for an input or output that is no tensor."""
    shape = getattr(given, "shape", None)
    box_id = picture.free_id(f"{what} {number}")
    facts = CallFacts([], [tuple(shape)] if isinstance(shape, tuple) else [], "")
    attrs: dict[str, Attribute] = {
        "layer": "",
        "class_name": type(given).__name__,
        "activation": "",
        "trainable": False,
        **facts.attributes,
        "parameters": 0,
        "shared_with": "",
        **mark("failed", f"no tensor, but {type(given).__name__}"),
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
    """Mark the inputs that were not given, and all that cannot be computed without them."""
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
    """Mark layers of one name, and an input that was given twice."""
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

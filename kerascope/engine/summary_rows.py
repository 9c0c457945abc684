"""The rows of `model.summary()`: what is known of each layer, or of each call of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape, product
from kerascope.backend.state import count_params
from kerascope.engine.base_layer import Layer
from kerascope.engine.costs import Cost, cost_of_call
from kerascope.engine.node import KerasHistory, Node
from kerascope.engine.node_ids import call_ids

if TYPE_CHECKING:
    from kerascope.engine.network_facts import NetworkFacts


class Choice(NamedTuple):
    """Which rows are made, and what is counted for them; see `Model.summary`."""

    expand_nested: bool = False
    calls: bool = False
    flops: bool = False
    memory: bool = False


@dataclass(frozen=True)
class SummaryRow:
    """One layer, or one call.

    Attributes
    ----------
    layer : str
        The layer's name; of a single call its id, such as `shared@1`.
    class_name : str
        Its class. Of an operation between layers also which one: `Operation: Add`.
    depth : int or None
        Its depth in the model; None where there is no graph.
    output_shape : tuple, or list of them, or None
        None if it is not known: the layer inside a wrapper is part of no graph. A layer that is
        called on several shapes has a list of what comes out.
    parameters : int
        Numbers in its weights, counted once however often it is called.
    connected_to : tuple of str
        The calls whose outputs it takes, by their ids: `dense_1`, `shared@1` for the second call of
        a shared layer, `split[0]` for the first of several outputs. Of a layer with several calls
        one text for each call: "a, b".
    trainable : bool
    level : int
        How many rows it is inside of: 0 for the model's own layers.
    calls : int
        How many calls the row stands for; 0 for a layer that is part of no graph.
    is_again : bool
        Its weights stand in an earlier row already: a further call of a shared layer. Of a heading:
        its copies are calls of the same layers.
    multiply_adds : Cost or None
        For one sample, over all calls of the row; None if it is not known.
    weight_bytes : int
    activation_bytes : int or None
        Of the outputs for one sample, over all calls of the row; None if a size is not known.
    copies : int
        Greater than 1: the rows inside stand for so many equal blocks.
    name : str
        The layer's name.
    """

    layer: str
    class_name: str
    depth: int | None
    output_shape: Any
    parameters: int
    connected_to: tuple[str, ...]
    trainable: bool
    level: int = 0
    calls: int = 1
    is_again: bool = False
    multiply_adds: Cost | None = None
    weight_bytes: int = 0
    activation_bytes: int | None = None
    copies: int = 1
    name: str = ""


def size_of(weight: Variable) -> tuple[int, int]:
    """Return how many numbers there are in a variable, and how many bytes they take."""
    numbers = count_params(weight)
    return numbers, numbers * np.dtype(weight.dtype).itemsize


def blocks_of_rows(model: NetworkFacts, choice: Choice) -> list[list[SummaryRow]]:
    """Return for each layer or call of a model its row, followed by the rows inside it."""
    return list(_blocks(model, choice))


def _blocks(model: Any, choice: Choice, before: str = "") -> Iterable[list[SummaryRow]]:
    if not model.outputs:
        for layer in model.layers:
            yield _part(layer, choice, before)
        return
    ids = {node: before + name for node, name in call_ids(model).items()}
    calls: dict[Layer, list[Node]] = {}
    for node in ids:
        calls.setdefault(node.outbound_layer, []).append(node)
    depths, layers_depths = model.graph_map.nodes_depths, model.graph_map.layers_depths
    if not choice.calls:
        for layer in model.graph_map.layers:
            nodes = sorted(calls[layer], key=lambda node: node.node_index)
            row = _row(layer, nodes, ids, choice)
            row = replace(row, depth=layers_depths[layer])
            yield _on_shapes_of(nodes, _with_inner(row, layer, choice, ""))
        return
    first_calls = {min(nodes, key=lambda node: node.node_index) for nodes in calls.values()}
    for node, name in ids.items():
        layer = node.outbound_layer
        row = _row(layer, [node], ids, choice)
        row = replace(row, layer=name, depth=depths.get(node), is_again=node not in first_calls)
        yield _on_shapes_of([node], _with_inner(row, layer, choice, f"{name}/"))


def _on_shapes_of(nodes: list[Node], rows: list[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of calls without costs inside a model that was called on other shapes."""
    if all(_runs_on_own_shapes(node) for node in nodes):
        return rows
    inner = [replace(row, multiply_adds=None, activation_bytes=None) for row in rows[1:]]
    return [rows[0], *inner]


def _runs_on_own_shapes(node: Node) -> bool:
    """Tell whether a nested model was called on the shapes of its own inputs."""
    inner: Any = node.outbound_layer
    is_network = hasattr(type(inner), "graph_map")
    own = [x.shape[1:] for x in inner.inputs] if is_network else []
    return not own or node.is_input or own == [x.shape[1:] for x in node.input_tensors]


# --- one row --------------------------------------------------------------------------------------


def _row(layer: Layer, nodes: list[Node], ids: dict[Node, str], choice: Choice) -> SummaryRow:
    """Return the row of some calls of a layer."""
    numbers, size = _weights(layer)
    return SummaryRow(
        layer=layer.name,
        class_name=_class_name(layer),
        depth=None,
        output_shape=_output_shape(nodes),
        parameters=numbers,
        connected_to=_sources(nodes, ids),
        trainable=layer.trainable,
        calls=len(nodes),
        multiply_adds=_cost(nodes) if choice.flops else None,
        weight_bytes=size,
        activation_bytes=_activations(nodes) if choice.memory else None,
        name=layer.name,
    )


def _row_without_calls(layer: Layer) -> SummaryRow:
    numbers, size = _weights(layer)
    return SummaryRow(
        layer=layer.name,
        class_name=_class_name(layer),
        depth=None,
        output_shape=None,
        parameters=numbers,
        connected_to=(),
        trainable=layer.trainable,
        calls=0,
        weight_bytes=size,
        name=layer.name,
    )


def _class_name(layer: Layer) -> str:
    name = type(layer).__name__
    operation = getattr(layer, "operation", None)
    if name == "Operation" and isinstance(operation, str):
        return f"{name}: {operation.rpartition('>')[2]}"
    return name


def _weights(layer: Layer) -> tuple[int, int]:
    sizes = [size_of(weight) for weight in dict.fromkeys(layer.weights)]
    return sum(numbers for numbers, _ in sizes), sum(size for _, size in sizes)


def _output_shape(nodes: list[Node]) -> Any:
    shapes: list[Shape] = nodes[0].output_shapes
    for node in nodes[1:]:
        if node.output_shapes != nodes[0].output_shapes:
            shapes = [*shapes, *(shape for shape in node.output_shapes if shape not in shapes)]
    return shapes[0] if len(shapes) == 1 else list(shapes)


def _sources(nodes: list[Node], ids: dict[Node, str]) -> tuple[str, ...]:
    by_call = [
        [_source(history, ids) for history in node.histories if history is not None]
        for node in nodes
    ]
    if len(nodes) == 1:
        return tuple(by_call[0])
    return tuple(", ".join(sources) for sources in by_call if sources)


def _source(history: KerasHistory, ids: dict[Node, str]) -> str:
    node = history.node
    several = len(node.output_tensors) > 1
    return ids[node] + (f"[{history.tensor_index}]" if several else "")


# --- costs ----------------------------------------------------------------------------------------


def _cost(nodes: list[Node]) -> Cost | None:
    fixed = per_step = 0
    for node in nodes:
        cost = cost_of_call(node)
        if cost is None:
            return None
        fixed, per_step = fixed + cost.fixed, per_step + cost.per_step
    return Cost(fixed, per_step)


def _activations(nodes: Iterable[Node]) -> int | None:
    """Return the bytes of what calls put out for one sample; the first axis counts the samples.

    A nested model puts out what its layers do; on other shapes than its own that is not known.
    """
    total = 0
    for node in nodes:
        inner: Any = node.outbound_layer
        if not _runs_on_own_shapes(node):
            return None
        if getattr(inner, "outputs", None):
            inside = (one for one in call_ids(inner) if not one.is_input)
            sizes = [_activations(inside)]
        else:
            sizes = [_bytes_for_one(tensor) for tensor in node.output_tensors]
        for size in sizes:
            if size is None:
                return None
            total += size
    return total


def _bytes_for_one(tensor: Tensor) -> int | None:
    numbers = product(tensor.shape[1:])
    return None if numbers is None else numbers * np.dtype(tensor.dtype).itemsize


# --- rows inside a row ----------------------------------------------------------------------------


def _with_inner(row: SummaryRow, layer: Any, choice: Choice, before: str) -> list[SummaryRow]:
    """Return a row and those of the layers inside: of a nested model, a wrapper, a cell.

    Where each call has a row, `before` stands in front of the ids of the rows inside.
    """
    if not choice.expand_nested:
        return [row]
    if getattr(layer, "outputs", None):
        blocks = _blocks(layer, choice, before)
    else:
        blocks = (_part(inner, choice, before) for inner in _inner_layers(layer))
    inside = [
        replace(inner, level=inner.level + 1, is_again=inner.is_again or row.is_again)
        for block in blocks
        for inner in block
    ]
    return [row, *inside]


def _part(layer: Layer, choice: Choice, before: str) -> list[SummaryRow]:
    """Return the rows of a layer inside another one that is no model."""
    row = _row_without_calls(layer)
    if choice.calls:
        row = replace(row, layer=before + layer.name)
    return _with_inner(row, layer, choice, f"{row.layer}/" if choice.calls else "")


def _inner_layers(layer: Any) -> list[Layer]:
    """Return the layers that somebody put into a layer.

    The cell that an LSTM, GRU or SimpleRNN makes by itself is none, and has its name. Of stacked
    cells each is one.
    """
    found: list[Layer] = []
    for inner in layer._sublayers:
        if type(inner).__name__ == "StackedRNNCells":
            found.extend(inner._sublayers)
        elif (inner.name, type(inner).__name__) != (layer.name, f"{type(layer).__name__}Cell"):
            found.append(inner)
    return found

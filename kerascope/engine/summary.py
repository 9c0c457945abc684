"""`model.summary()` as data: one row for each layer, and the numbers of parameters.

How it looks is decided elsewhere: `viz.tables` draws it with rich; `plain_text` is what is printed
where nothing was registered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kerascope import edge
from kerascope.backend.shapes import Shape
from kerascope.backend.state import count_params
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import KerasHistory, Node
from kerascope.engine.node_ids import call_ids
from kerascope.errors import NotBuiltError

if TYPE_CHECKING:
    from kerascope.engine.network_facts import NetworkFacts


@dataclass(frozen=True)
class SummaryRow:
    """One layer.

    Attributes
    ----------
    layer, class_name : str
    depth : int or None
        Its depth in the model; None where the model has no graph.
    output_shape : tuple, or list of them
        Of its first call in the model.
    parameters : int
        Numbers in its weights, counted once however often it is called.
    connected_to : tuple of str
        The calls whose outputs its calls take, by their ids: `dense_1`, `shared@1` for the second
        call of a shared layer, `split[0]` for the first of several outputs.
    trainable : bool
    """

    layer: str
    class_name: str
    depth: int | None
    output_shape: Any
    parameters: int
    connected_to: tuple[str, ...]
    trainable: bool


@dataclass(frozen=True)
class Summary:
    """The table of a model, with its totals; a weight that several layers share is counted once."""

    name: str
    rows: tuple[SummaryRow, ...]
    total: int
    trainable: int
    non_trainable: int


def summarize(model: NetworkFacts) -> Summary:
    """Return the summary of a model as data.

    Raises
    ------
    NotBuiltError
        The model has no weights yet, because it does not know its input shape.
    """
    if not model.outputs and not model.built:
        raise NotBuiltError(
            f"{model.label}: this model has not yet been built. Give the first layer an "
            "input_shape, call "
            f"build(input_shape), or fit it.",
            subject=model,
        )
    trainable = sum(count_params(w) for w in set(model.trainable_weights))
    non_trainable = sum(count_params(w) for w in set(model.non_trainable_weights))
    ids = call_ids(model)
    rows = tuple(_row(layer, model, ids) for layer in model.graph_map.layers)
    return Summary(model.name, rows, trainable + non_trainable, trainable, non_trainable)


def _row(layer: Layer, model: NetworkFacts, ids: dict[Node, str]) -> SummaryRow:
    inside = [node for node in layer.inbound_nodes if node in ids]
    shapes: list[Shape] = inside[0].output_shapes
    sources = [history for node in inside for history in node.histories if history]
    return SummaryRow(
        layer=layer.name,
        class_name=type(layer).__name__,
        depth=model.graph_map.layers_depths[layer],
        output_shape=shapes[0] if len(shapes) == 1 else list(shapes),
        parameters=sum(count_params(w) for w in dict.fromkeys(layer.weights)),
        connected_to=tuple(_source(history, ids) for history in sources),
        trainable=layer.trainable,
    )


def _source(history: KerasHistory, ids: dict[Node, str]) -> str:
    several = len(history.node.output_tensors) > 1
    return ids[history.node] + (f"[{history.tensor_index}]" if several else "")


def print_summary(
    model: NetworkFacts,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Print the summary of a model; see `Model.summary`."""
    edge.show("summary", summarize(model), _print_plain, line_length=line_length, print_fn=print_fn)


def _print_plain(
    summary: Summary, line_length: int | None = None, print_fn: Callable[[str], Any] | None = None
) -> None:
    for line in plain_text(summary).splitlines():
        (print_fn or print)(line)


def plain_text(summary: Summary) -> str:
    """Return the summary as lines of text."""
    table = [("Layer (type)", "Output Shape", "Param #", "Connected to")]
    for row in summary.rows:
        shape, source = str(row.output_shape), ", ".join(row.connected_to)
        table.append((f"{row.layer} ({row.class_name})", shape, f"{row.parameters:,}", source))
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    totals = [
        f"Total params: {summary.total:,}",
        f"Trainable params: {summary.trainable:,}",
        f"Non-trainable params: {summary.non_trainable:,}",
    ]
    return "\n".join([f"Model: {summary.name}", *lines, *totals])

"""`model.summary()` as data: a row for each layer or each call, and the totals.

`viz.tables` draws the summary as a table; without it, the rows are printed as plain text. `costs`
counts the multiply-adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from kerascope import display
from kerascope.backend import Tensor, Variable
from kerascope.backend.shapes import UNKNOWN, Shape, product
from kerascope.backend.state import count_params
from kerascope.engine.base_layer import Layer
from kerascope.engine.costs import Cost, cost_of_call
from kerascope.engine.node import KerasHistory, Node
from kerascope.engine.node_ids import HasGraph, call_ids
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.registry import did_you_mean

__all__ = ["Summary", "SummaryRow", "Total", "print_summary", "summarize"]


class Total(NamedTuple):
    """A total in the summary: the number of some parameters, and their size in bytes."""

    numbers: int
    bytes: int


_NOTHING = Total(0, 0)


class Summarized(HasGraph, Protocol):
    """The attributes of a network that a summary uses."""

    name: str
    built: bool
    outputs: list[Tensor]

    @property
    def label(self) -> str:
        """The class and the name of the network, for error messages."""

    @property
    def layers(self) -> list[Layer]:
        """The layers, deepest first; in a Sequential, in the order in which they were added."""

    @property
    def trainable_weights(self) -> list[Variable]:
        """Weights that training changes."""

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Weights that training does not change."""

    def _layers_that_cannot_run(self) -> list[Layer]:
        """Return the layers, also nested ones, whose class was unknown when a file was loaded."""


@dataclass(frozen=True)
class Summary:
    """The table of a model and its totals, which count each weight once.

    Attributes
    ----------
    name : str
        Name of the model.
    rows : tuple of SummaryRow
        The rows of the table.
    total, trainable, non_trainable : Total
        The totals of the whole model, even if only some rows are shown.
    optimizer : Total
        The slots of the optimizer; none before the first training.
    columns : tuple of str
        The optional columns that are shown: "trainable", "multiply_adds", "weight_bytes",
        "activation_bytes".
    multiply_adds : Cost or None
        Sum over all rows whose cost is known; None without `flops`.
    unknown_costs : int
        Number of rows whose cost is unknown.
    activation_bytes : int or None
        Size of the outputs of all calls for one sample; None if a size is unknown, or without
        `memory`.
    note : str
        Text about which rows are shown; empty if all rows are shown.
    opaque : tuple of str
        The layers, nested ones too, that cannot run because their class is unknown.
    unsure : tuple of str
        The layers in `opaque` that have weights. It is unknown which of these are trained.
    """

    name: str
    rows: tuple[SummaryRow, ...]
    total: Total
    trainable: Total
    non_trainable: Total
    optimizer: Total = _NOTHING
    columns: tuple[str, ...] = ()
    multiply_adds: Cost | None = None
    unknown_costs: int = 0
    activation_bytes: int | None = None
    note: str = ""
    opaque: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


def summarize(
    model: Summarized,
    *,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: tuple[str, str] | None = None,
    calls: bool = False,
    fold: bool = False,
    flops: bool = False,
    memory: bool = False,
) -> Summary:
    """Return the summary of a model as data; see `Model.summary` for the options.

    Raises
    ------
    NotBuiltError
        The model has no weights yet, because its input shape is unknown.
    ArgumentError
        A name in `layer_range` is not the name of a layer or the beginning of one.
    """
    if not model.outputs and not model.built:
        raise NotBuiltError(
            f"{model.label}: this model has not yet been built. Give the first layer an "
            "input_shape, call build(input_shape), or fit it.",
            subject=model,
        )
    shown = model if model.outputs else display.show("graph", model, _no_graph) or model
    choice = Choice(expand_nested, calls, flops, memory)
    blocks = blocks_of_rows(shown, choice)
    if shown is not model:  # layers that its `call` did not use
        called = {block[0].name for block in blocks}
        blocks += [_part(layer, choice, "") for layer in model.layers if layer.name not in called]
    outer = [block[0] for block in blocks]
    if layer_range is not None:
        first, last = _range_of_blocks(layer_range, [row.name for row in outer], model)
        blocks, note = blocks[first : last + 1], _note(outer, first, last)
    else:
        note = ""
    rows = [row for block in blocks for row in block]
    opaque = model._layers_that_cannot_run()
    trainable = _total(model.trainable_weights)
    non_trainable = _total(model.non_trainable_weights)
    return Summary(
        name=model.name,
        rows=tuple(folded(rows) if fold else rows),
        total=Total(*(a + b for a, b in zip(trainable, non_trainable, strict=True))),
        trainable=trainable,
        non_trainable=non_trainable,
        optimizer=_total(_slots(model)),
        columns=_columns(show_trainable, flops, memory),
        multiply_adds=_sum_of_costs(outer) if flops else None,
        unknown_costs=sum(row.multiply_adds is None for row in outer) if flops else 0,
        activation_bytes=_sum_of_bytes(outer) if memory else None,
        note=note,
        opaque=tuple(layer.name for layer in opaque),
        unsure=tuple(layer.name for layer in opaque if getattr(layer, "is_unsure", False)),
    )


def _no_graph(layer: Any, shapes: Any = None) -> None:
    """Return None as a custom layer's graph; used if `viz` has registered no other function."""


def _total(weights: Iterable[Variable]) -> Total:
    sizes = [size_of(weight) for weight in dict.fromkeys(weights)]
    return Total(sum(numbers for numbers, _ in sizes), sum(size for _, size in sizes))


def _slots(model: Summarized) -> list[Variable]:
    """Return the slots of a model's optimizer. The count of steps is not a slot."""
    weights: list[Variable] = getattr(getattr(model, "optimizer", None), "weights", [])
    return weights[1:]


def _columns(show_trainable: bool, flops: bool, memory: bool) -> tuple[str, ...]:
    return (
        *(["trainable"] if show_trainable else []),
        *(["multiply_adds"] if flops else []),
        *(["weight_bytes", "activation_bytes"] if memory else []),
    )


def _sum_of_costs(rows: Sequence[SummaryRow]) -> Cost:
    known = [row.multiply_adds for row in rows if row.multiply_adds is not None]
    return Cost(sum(cost.fixed for cost in known), sum(cost.per_step for cost in known))


def _sum_of_bytes(rows: Sequence[SummaryRow]) -> int | None:
    sizes = [row.activation_bytes for row in rows]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


# --- a range of layers ----------------------------------------------------------------------------


def _range_of_blocks(wanted: Any, names: list[str], model: Summarized) -> tuple[int, int]:
    """Return the indices of the first and last layer that `layer_range` requests."""
    where = f"{model.label}: summary: layer_range"
    if not isinstance(wanted, (list, tuple)) or len(wanted) != 2:
        raise ArgumentError(
            f"{where}: expected two names, of the first and the last layer to show, "
            f"got {wanted!r}. Write layer_range=('{names[0]}', '{names[-1]}').",
            subject=model,
        )
    places = [place for name in wanted for place in _places(str(name), names, where, model)]
    return min(places), max(places)


def _places(wanted: str, names: list[str], where: str, model: Summarized) -> list[int]:
    """Return the indices of all names that are equal to `wanted`.

    If no name is equal, `wanted` is a regular expression, and the indices of the names whose
    beginning it matches are returned. If there are none, an ArgumentError is raised.
    """
    import re  # only this needs it

    exact = [place for place, name in enumerate(names) if name == wanted]
    if exact:
        return exact
    try:
        matching = [place for place, name in enumerate(names) if re.match(wanted, name)]
    except re.error:
        matching = []
    if matching:
        return matching
    raise ArgumentError(
        f"{where}: no layer's name is or begins with {wanted!r}. "
        f"{did_you_mean(wanted, names)}Use one of: {', '.join(dict.fromkeys(names))}.",
        subject=model,
    )


def _note(rows: list[SummaryRow], first: int, last: int) -> str:
    shown = last - first + 1
    return f"{rows[first].layer} to {rows[last].layer}: {shown} of {len(rows)} rows"


# --- printing -------------------------------------------------------------------------------------


def print_summary(
    model: Summarized,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Callable[[str], Any] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: tuple[str, str] | None = None,
    *,
    calls: bool = False,
    fold: bool = False,
    flops: bool = False,
    memory: bool = False,
) -> None:
    """Print the summary of a model; see `Model.summary`."""
    summary = summarize(
        model,
        expand_nested=expand_nested,
        show_trainable=show_trainable,
        layer_range=layer_range,
        calls=calls,
        fold=fold,
        flops=flops,
        memory=memory,
    )
    display.show("summary", summary, _print_plain, line_length=line_length, print_fn=print_fn)


def _print_plain(
    summary: Summary, line_length: int | None = None, print_fn: Callable[[str], Any] | None = None
) -> None:
    """Print the rows as plain lines, without a table."""
    for row in summary.rows:
        (print_fn or print)(f"{row.layer} ({row.class_name}): {row.parameters:,}")
    (print_fn or print)(f"Total params: {summary.total.numbers:,}")


# --- the rows -------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """The options of `Model.summary` that decide its rows and its columns of numbers."""

    expand_nested: bool = False
    calls: bool = False
    flops: bool = False
    memory: bool = False


@dataclass(frozen=True)
class SummaryRow:
    """A row of the table that `Model.summary` prints: a layer or a call.

    Attributes
    ----------
    layer : str
        The layer's name; in a row for one call, the id of the call, such as `shared@1`.
    class_name : str
        The layer's class; for an operation between layers, with the op: `Operation: Add`.
    depth : int or None
        Depth in the model; None if there is no graph.
    output_shape : tuple, or list of them, or None
        None if it is unknown, as for a layer inside a wrapper, which is part of no graph. A list if
        a layer's calls have different output shapes.
    parameters : int
        Number of parameters, counted once for a layer with several calls.
    connected_to : tuple of str
        The ids of the calls whose outputs are its inputs: `dense_1`, `shared@1` for the second call
        of a shared layer, `split[0]` for the first of several outputs. For a layer with several
        calls, one string for each call, such as "a, b".
    trainable : bool
        Whether the layer is trainable. In the heading of repeated blocks: whether every layer of
        these blocks is trainable.
    level : int
        Level of nesting, which is 0 for the model's own layers.
    calls : int
        The number of calls in the row; 0 for a layer that is part of no graph.
    is_again : bool
        Whether an earlier row has the same weights, because the layer is shared. In the heading of
        repeated blocks: whether all blocks are calls of the same layers.
    multiply_adds : Cost or None
        Multiply-adds for one sample in all calls of the row; None if unknown.
    weight_bytes : int
        Size of the weights.
    activation_bytes : int or None
        Size of the outputs for one sample, over all calls of the row; None if unknown.
    copies : int
        If greater than 1, the row is the heading of this many equal blocks, of which only one is
        shown.
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
    """Return the number of elements of a variable, and their size in bytes."""
    numbers = count_params(weight)
    return numbers, numbers * np.dtype(weight.dtype).itemsize


def blocks_of_rows(model: Summarized, choice: Choice) -> list[list[SummaryRow]]:
    """Return the rows of each layer or call of a model: its own, then those of inner layers."""
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
            yield _on_shapes_of(nodes, _with_inner(row, layer, choice, "", nodes))
        return
    first_calls = {min(nodes, key=lambda node: node.node_index) for nodes in calls.values()}
    for node, name in ids.items():
        layer = node.outbound_layer
        row = _row(layer, [node], ids, choice)
        row = replace(row, layer=name, depth=depths.get(node), is_again=node not in first_calls)
        yield _on_shapes_of([node], _with_inner(row, layer, choice, f"{name}/", [node]))


def _on_shapes_of(nodes: list[Node], rows: list[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of a layer and its inner layers, with the inner costs only if they are known.

    They are unknown if a nested model is called on inputs of other shapes than its own.
    """
    if all(_runs_on_own_shapes(node) for node in nodes):
        return rows
    inner = [replace(row, multiply_adds=None, activation_bytes=None) for row in rows[1:]]
    return [rows[0], *inner]


def _runs_on_own_shapes(node: Node) -> bool:
    """Return whether a nested model is called on its own input shapes; True for other layers."""
    inner: Any = node.outbound_layer
    is_network = hasattr(type(inner), "graph_map")
    own = [x.shape[1:] for x in inner.inputs] if is_network else []
    return not own or node.is_input or own == [x.shape[1:] for x in node.input_tensors]


# --- one row --------------------------------------------------------------------------------------


def _row(layer: Layer, nodes: list[Node], ids: dict[Node, str], choice: Choice) -> SummaryRow:
    """Return the row for these calls of a layer. Without calls, it shows no shape and no costs."""
    numbers, size = _weights(layer)
    return SummaryRow(
        layer=layer.name,
        class_name=_class_name(layer),
        depth=None,
        output_shape=_output_shape(nodes) if nodes else None,
        parameters=numbers,
        connected_to=_sources(nodes, ids),
        trainable=layer.trainable,
        calls=len(nodes),
        multiply_adds=_cost(nodes) if choice.flops and nodes else None,
        weight_bytes=size,
        activation_bytes=_activations(nodes) if choice.memory and nodes else None,
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
    """Return the size in bytes of all outputs of these calls, for one sample; None if unknown.

    For a nested model, the outputs of its layers are added. If a nested model is called on other
    shapes than its own, the size is unknown. The first axis counts the samples.
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
    numbers = None if tensor.shape is UNKNOWN else product(tensor.shape[1:])
    try:
        width = np.dtype(tensor.dtype).itemsize
    except TypeError:  # a dtype unknown to NumPy, such as bfloat16
        return None
    return None if numbers is None else numbers * width


# --- rows inside a row ----------------------------------------------------------------------------


def _with_inner(
    row: SummaryRow, layer: Any, choice: Choice, before: str, nodes: Sequence[Node] = ()
) -> list[SummaryRow]:
    """Return the row of a layer and the rows of its inner layers.

    Models, wrappers, recurrent layers with cells, and custom layers have inner layers. If each call
    has a row, the ids of the inner rows begin with `before`. The graph of a custom layer is that of
    its first call.
    """
    if not choice.expand_nested:
        return [row]
    graph = layer if getattr(layer, "outputs", None) else None
    if graph is None and nodes and _inner_layers(layer):
        graph = display.show("graph", layer, _no_graph, shapes=nodes[0].input_shapes)
    if graph is not None:
        blocks = _blocks(graph, choice, before)
    else:
        blocks = (_part(inner, choice, before) for inner in _inner_layers(layer))
    inside = [
        replace(inner, level=inner.level + 1, is_again=inner.is_again or row.is_again)
        for block in blocks
        for inner in block
    ]
    return [row, *inside]


def _part(layer: Layer, choice: Choice, before: str) -> list[SummaryRow]:
    """Return the rows of an inner layer whose outer layer, such as a wrapper, has no graph."""
    row = _row(layer, [], {}, choice)
    if choice.calls:
        row = replace(row, layer=before + layer.name)
    return _with_inner(row, layer, choice, f"{row.layer}/" if choice.calls else "")


def _inner_layers(layer: Any) -> list[Layer]:
    """Return the layers that the user put into a layer.

    An LSTM, GRU or SimpleRNN makes its own cell, so this cell is not in the list. Stacked cells are
    listed one by one.
    """
    found: list[Layer] = []
    for inner in layer._sublayers:
        if type(inner).__name__ == "StackedRNNCells":
            found.extend(inner._sublayers)
        elif (inner.name, type(inner).__name__) != (layer.name, f"{type(layer).__name__}Cell"):
            found.append(inner)
    return found


# --- repeated blocks, folded ----------------------------------------------------------------------
#
# Equal blocks of rows that follow each other are shown once.
#
# Two rows are equal if all columns but names and depths are equal. Sources are compared by how many
# rows of the same level they are before the row.


LONGEST_BLOCK = 200  # rows; longer blocks are not folded


class _Run(NamedTuple):
    """A series of equal blocks of rows that follow each other: `copies` blocks of `length` rows."""

    start: int
    length: int
    copies: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.copies

    @property
    def rows_saved(self) -> int:
        return self.length * (self.copies - 1) - 1  # the heading itself is one row


def folded(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Replace equal blocks of rows that follow each other by a heading and one of the blocks.

    The heading contains the names of the first and the last block, and the sums over all copies.
    In the heading, `is_again` is true if the copies are calls of the same layers. The rows of the
    block are one level deeper.
    """
    marks = _marks(rows)
    result: list[SummaryRow] = []
    place = 0
    while place < len(rows):
        run = _best_run(marks, rows, place)
        if run is None:
            result.append(rows[place])
            place += 1
            continue
        result.extend(rows[place : run.start])
        result.append(_heading(rows, run))
        block = rows[run.start : run.start + run.length]
        result.extend(replace(row, level=row.level + 1) for row in block)
        place = run.end
    return result


def _marks(rows: Sequence[SummaryRow]) -> list[int]:
    """Return a number for each row; rows that are equal except for names have the same number."""
    numbers: dict[Any, int] = {}
    places: dict[str, int] = {}
    rows_of_level: Counter[int] = Counter()
    marks = []
    for row in rows:
        rows_of_level[row.level] += 1
        place = rows_of_level[row.level]
        sources = tuple(place - places[x] if x in places else x for x in row.connected_to)
        plain = replace(row, layer="", name="", depth=None, connected_to=(), output_shape=None)
        facts = (plain, str(row.output_shape), sources)
        marks.append(numbers.setdefault(facts, len(numbers)))
        places[row.layer] = place
    return marks


def _best_run(marks: list[int], rows: Sequence[SummaryRow], place: int) -> _Run | None:
    """Return the series of equal blocks of rows that saves most rows if it is shown as one block.

    Return None if no series saves a row. `marks` contains a number for each row, which is the same
    for equal rows. Only series that begin at row `place` or shortly after it are considered.
    """
    best: _Run | None = None
    for length in range(1, min(LONGEST_BLOCK, (len(marks) - place) // 2) + 1):
        end = place
        while end + length < len(marks) and marks[end] == marks[end + length]:
            end += 1
        copies, left = divmod(end - place, length)
        run = _Run(place, length, copies + 1)
        if copies and run.rows_saved > max(0, best.rows_saved if best else 0):
            best = _turned(run, rows, left)
    return best


def _turned(run: _Run, rows: Sequence[SummaryRow], left: int) -> _Run:
    """Return a series of equal blocks of rows, moved down by at most `left` rows.

    The same rows can be divided into equal blocks from several rows on. The best first row is one
    with the lowest level of nesting. Among these it is the one for which the names in a block have
    the longest common beginning.
    """

    def merit(start: int) -> tuple[int, int]:
        block = rows[start : start + run.length]
        names = [row.layer for row in block if row.level == block[0].level]
        return -rows[start].level, len(_common_beginning(names))

    starts = range(run.start, run.start + left + 1)
    return run._replace(start=max(starts, key=merit))


def _heading(rows: Sequence[SummaryRow], run: _Run) -> SummaryRow:
    every = rows[run.start : run.end]
    outer = [row for row in every if row.level == every[0].level]
    block = len(outer) // run.copies
    names = _name_of_block(outer[:block]), _name_of_block(outer[-block:])
    if not all(names):
        names = outer[0].layer, outer[-1].layer
    return SummaryRow(
        layer=" … ".join(names),
        class_name="",
        depth=None,
        output_shape=None,
        parameters=sum(row.parameters for row in outer if not row.is_again),
        connected_to=(),
        trainable=all(row.trainable for row in outer),
        level=every[0].level,
        is_again=all(row.name == every[place % run.length].name for place, row in enumerate(every)),
        multiply_adds=_total_cost(outer),
        weight_bytes=sum(row.weight_bytes for row in outer if not row.is_again),
        activation_bytes=_sum_of_bytes(outer),
        copies=run.copies,
    )


def _common_beginning(names: Sequence[str]) -> str:
    first, last = min(names), max(names)  # their common beginning is that of all names
    same = (a == b for a, b in zip(first, last, strict=False))
    return first[: next((place for place, equal in enumerate(same) if not equal), len(first))]


def _name_of_block(rows: Sequence[SummaryRow]) -> str:
    """Return the whole words that all names in a block begin with, followed by `*`.

    The result is empty if the names have no common beginning, or if the block has one row.
    """
    common = _common_beginning([row.layer for row in rows])
    end = max(common.rfind(sign) for sign in "_/-.@") + 1
    return f"{common[:end]}*" if end and len(rows) > 1 else ""


def _total_cost(rows: Sequence[SummaryRow]) -> Cost | None:
    return None if any(row.multiply_adds is None for row in rows) else _sum_of_costs(rows)

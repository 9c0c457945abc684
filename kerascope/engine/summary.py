"""`model.summary()` as data: a row for each layer or each call, and the totals.

How it looks is decided elsewhere: `viz.tables` draws it with rich; a plain list of rows is what is
printed where nothing was registered. `summary_rows` makes the rows, `summary_folding` folds
repeated blocks, `costs` counts multiply-adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kerascope import edge
from kerascope.backend.graph import Variable
from kerascope.engine.costs import Cost
from kerascope.engine.summary_folding import folded
from kerascope.engine.summary_rows import Choice, SummaryRow, blocks_of_rows, size_of
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.registry import did_you_mean

if TYPE_CHECKING:
    from kerascope.engine.network_facts import NetworkFacts

__all__ = ["Summary", "SummaryRow", "Total", "print_summary", "summarize"]


class Total(NamedTuple):
    """How many numbers there are in weights, and how many bytes they take."""

    numbers: int
    bytes: int


_NOTHING = Total(0, 0)


@dataclass(frozen=True)
class Summary:
    """The table of a model with its totals, in which no weight is counted twice.

    Attributes
    ----------
    name : str
    rows : tuple of SummaryRow
    total, trainable, non_trainable : Total
        Of the whole model, whichever rows are shown.
    optimizer : Total
        Numbers that the optimizer keeps beside the weights; none before the first training.
    columns : tuple of str
        The columns beyond the usual ones: "trainable", "multiply_adds", "weight_bytes",
        "activation_bytes".
    multiply_adds : Cost or None
        Sum over all rows whose cost is known; None if nobody asked.
    unknown_costs : int
        Rows whose cost is not known.
    activation_bytes : int or None
        Sum over all calls; None if a size is not known, or nobody asked.
    note : str
        Which rows are shown, "" for all.
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


def summarize(
    model: NetworkFacts,
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
        The model has no weights yet, because it does not know its input shape.
    ArgumentError
        `layer_range` names no layers.
    """
    if not model.outputs and not model.built:
        raise NotBuiltError(
            f"{model.label}: this model has not yet been built. Give the first layer an "
            "input_shape, call "
            f"build(input_shape), or fit it.",
            subject=model,
        )
    blocks = blocks_of_rows(model, Choice(expand_nested, calls, flops, memory))
    outer = [block[0] for block in blocks]
    if layer_range is not None:
        first, last = _range_of_blocks(layer_range, [row.name for row in outer], model)
        shown, note = blocks[first : last + 1], _note(outer, first, last)
    else:
        shown, note = blocks, ""
    rows = [row for block in shown for row in block]
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
    )


def _total(weights: Iterable[Variable]) -> Total:
    sizes = [size_of(weight) for weight in dict.fromkeys(weights)]
    return Total(sum(numbers for numbers, _ in sizes), sum(size for _, size in sizes))


def _slots(model: NetworkFacts) -> list[Variable]:
    """Return what the optimizer of a model keeps for each weight, without its count of steps."""
    weights: list[Variable] = getattr(getattr(model, "optimizer", None), "weights", [])
    return weights[1:]


def _columns(show_trainable: bool, flops: bool, memory: bool) -> tuple[str, ...]:
    return (
        *(["trainable"] if show_trainable else []),
        *(["multiply_adds"] if flops else []),
        *(["weight_bytes", "activation_bytes"] if memory else []),
    )


def _sum_of_costs(rows: list[SummaryRow]) -> Cost:
    known = [row.multiply_adds for row in rows if row.multiply_adds is not None]
    return Cost(sum(cost.fixed for cost in known), sum(cost.per_step for cost in known))


def _sum_of_bytes(rows: list[SummaryRow]) -> int | None:
    sizes = [row.activation_bytes for row in rows]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


# --- a part of the layers -------------------------------------------------------------------------


def _range_of_blocks(wanted: Any, names: list[str], model: NetworkFacts) -> tuple[int, int]:
    """Return the places of the first and the last layer that are shown."""
    where = f"{model.label}: summary: layer_range"
    if not isinstance(wanted, (list, tuple)) or len(wanted) != 2:
        raise ArgumentError(
            f"{where}: expected two names, of the first and the last layer to show; "
            f"got {wanted!r}. Write layer_range=('{names[0]}', '{names[-1]}').",
            subject=model,
        )
    places = [place for name in wanted for place in _places(str(name), names, where, model)]
    return min(places), max(places)


def _places(wanted: str, names: list[str], where: str, model: NetworkFacts) -> list[int]:
    """Return the places of a name, or of all names whose beginning matches it as a pattern."""
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
        f"{where}: no layer is called {wanted!r} and no name begins so. "
        f"{did_you_mean(wanted, names)}Layers: {', '.join(dict.fromkeys(names))}.",
        subject=model,
    )


def _note(rows: list[SummaryRow], first: int, last: int) -> str:
    shown = last - first + 1
    return f"{rows[first].layer} to {rows[last].layer}: {shown} of {len(rows)} rows"


# --- printing -------------------------------------------------------------------------------------


def print_summary(
    model: NetworkFacts,
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
    edge.show("summary", summary, _print_plain, line_length=line_length, print_fn=print_fn)


def _print_plain(
    summary: Summary, line_length: int | None = None, print_fn: Callable[[str], Any] | None = None
) -> None:
    """Print the rows one by one, without a table."""
    for row in summary.rows:
        (print_fn or print)(f"{row.layer} ({row.class_name}): {row.parameters:,}")
    (print_fn or print)(f"Total params: {summary.total.numbers:,}")

"""Tables of the terminal, drawn with rich: `model.summary()`.

A table is as wide as it must be, at most as wide as the terminal; what does not fit is folded into
further lines, and no column or letter is ever cut off. `print_summary` is registered at the edge
for "summary". Keras prints columns at fixed positions.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kerascope.engine.summary import Summary, SummaryRow
from kerascope.errors import ArgumentError

# Below this no table can be read, and rich would begin to leave out columns.
NARROWEST = 50
WIDTH_OF_LINES = 80


def summary_table(summary: Summary) -> Group:
    """Return the summary of a model as a rich renderable: its name, a table, the totals.

    Parameters
    ----------
    summary : Summary
        What `engine.summary.summarize(model)` returns.

    Returns
    -------
    rich.console.Group
    """
    table = Table(
        box=box.ROUNDED,
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        border_style="dim",
    )
    table.add_column("Layer (type)", overflow="fold")
    table.add_column("Depth", justify="right", no_wrap=True)
    table.add_column("Output shape", overflow="fold")
    table.add_column("Params", justify="right", no_wrap=True)
    table.add_column("Connected to", overflow="fold")
    for row in summary.rows:
        table.add_row(*_cells(row))
    return Group(Text(f"Model: {summary.name}", style="bold"), table, "", _totals(summary))


def print_summary(
    summary: Summary,
    line_length: int | None = None,
    print_fn: Callable[[str], Any] | None = None,
    console: Console | None = None,
) -> None:
    """Print the summary of a model; registered at the edge for "summary".

    Parameters
    ----------
    summary : Summary
    line_length : int, optional
        Greatest width; by default that of the terminal, 80 for `print_fn`.
    print_fn : callable, optional
        Receives each line instead of the terminal.
    console : rich.console.Console, optional
        Where to print; by default a new one on `sys.stdout`.

    Raises
    ------
    ArgumentError
        `line_length` is too small for any table.

    Examples
    --------
    >>> from kerascope.engine.summary import summarize
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(4,), name="x")
    >>> print_summary(summarize(Model(x, Dense(3, name="scores")(x), name="small")), print_fn=print)
    Model: small
    Layer (type)   │ Depth │ Output shape │ Params │ Connected to
    ───────────────┼───────┼──────────────┼────────┼─────────────
    x (InputLayer) │     1 │ (None, 4)    │      0 │
    scores (Dense) │     0 │ (None, 3)    │     15 │ x
    <BLANKLINE>
    Total params: 15
    Trainable params: 15
    Non-trainable params: 0
    """
    if line_length is not None and line_length < NARROWEST:
        raise ArgumentError(
            f"summary: line_length is too small; expected at least {NARROWEST}, "
            f"got {line_length!r}."
        )
    if print_fn is not None:
        for line in _lines(summary, line_length or WIDTH_OF_LINES):
            print_fn(line)
        return
    console = console or Console(file=sys.stdout, highlight=False)
    width = line_length or max(console.width, NARROWEST)
    console.print(summary_table(summary), width=width, no_wrap=False, crop=False)


def _lines(summary: Summary, width: int) -> list[str]:
    """Return the summary as lines of plain text."""
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, highlight=False)
    console.print(summary_table(summary))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def _cells(row: SummaryRow) -> list[Text]:
    layer = Text.assemble(row.layer, (f" ({row.class_name})", "dim"))
    if row.parameters and not row.trainable:
        layer.append(" frozen", style="italic")
    depth = "" if row.depth is None else str(row.depth)
    shapes = row.output_shape if isinstance(row.output_shape, list) else [row.output_shape]
    return [
        layer,
        Text(depth, style="dim"),
        Text("\n".join(str(shape) for shape in shapes)),
        Text(f"{row.parameters:,}", style="cyan" if row.parameters else "dim"),
        Text("\n".join(row.connected_to), style="dim"),
    ]


def _totals(summary: Summary) -> Text:
    return Text.assemble(
        "Total params: ", (f"{summary.total:,}", "bold cyan"),
        f"\nTrainable params: {summary.trainable:,}",
        f"\nNon-trainable params: {summary.non_trainable:,}",
    )  # fmt: skip

"""Tables of the terminal, drawn with rich: `model.summary()`.

A table is as wide as it must be, at most as wide as the terminal; what does not fit is folded into
further lines between words, and no letter is ever cut off. Where whole names and shapes do not fit
side by side, the column of depths is left out; then shapes are folded, last of all words.
`print_summary` is registered at the edge
for "summary". Keras prints columns at fixed positions.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kerascope.engine.summary import Summary, SummaryRow
from kerascope.errors import ArgumentError

# Below this no table can be read, and rich would begin to leave out columns.
NARROWEST = 50
WIDTH_OF_LINES = 80
GAP = len(" │ ")


def summary_table(summary: Summary, width: int | None = None) -> Group:
    """Return the summary of a model as a rich renderable: its name, a table, the totals.

    Parameters
    ----------
    summary : Summary
        What `engine.summary.summarize(model)` returns.
    width : int, optional
        Columns of the terminal: what decides whether there is room for the depths.

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
    columns = _columns(summary)
    if width is not None and sum(map(_least, columns)) > _room(columns, width):
        columns = [column for column in columns if column.title != "Depth"]
    for column, size in zip(columns, _widths(columns, width), strict=True):
        options: Any = {"justify": "right", "no_wrap": True} if column.is_number else {}
        table.add_column(column.title, overflow="fold", width=size, **options)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
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
    console.print(summary_table(summary, width), width=width, no_wrap=False, crop=False)


def _lines(summary: Summary, width: int) -> list[str]:
    """Return the summary as lines of plain text."""
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, highlight=False)
    console.print(summary_table(summary, width))
    return [line.rstrip() for line in file.getvalue().splitlines()]


class _Column(NamedTuple):
    title: str
    cells: list[Text]
    is_number: bool = False
    is_whole: bool = False  # a line of it should not be folded


def _columns(summary: Summary) -> list[_Column]:
    cells = list(zip(*map(_cells, summary.rows), strict=True)) or [()] * 5
    layers, depths, shapes, parameters, sources = map(list, cells)
    return [
        _Column("Layer (type)", layers),
        _Column("Depth", depths, is_number=True),
        _Column("Output shape", shapes, is_whole=True),
        _Column("Params", parameters, is_number=True),
        _Column("Connected to", sources),
    ]


def _room(columns: list[_Column], width: int) -> int:
    return width - GAP * (len(columns) - 1)


def _longest_word(column: _Column) -> int:
    texts = [column.title, *(cell.plain for cell in column.cells)]
    return max(cell_len(word) for text in texts for word in text.split())


def _longest_line(column: _Column) -> int:
    lines = [line for cell in column.cells for line in cell.plain.split("\n")]
    return max(map(cell_len, lines), default=0)


def _least(column: _Column) -> int:
    """Return the width in which nothing is folded that should not be."""
    whole = column.is_whole or column.is_number
    return max(_longest_word(column), _longest_line(column) if whole else 0)


def _most(column: _Column) -> int:
    """Return the width in which nothing is folded."""
    return max(cell_len(column.title), _longest_line(column))


def _widths(columns: list[_Column], width: int | None) -> list[int | None]:
    """Return the widths in which no name is broken; None each where rich shall choose."""
    free: list[int | None] = [None] * len(columns)
    if width is None or sum(map(_most, columns)) <= _room(columns, width):
        return free
    for narrowest in (_least, _longest_word):
        widths = [narrowest(column) for column in columns]
        spare = _room(columns, width) - sum(widths)
        if spare >= 0:
            return [*_shared_out(spare, widths, [_most(column) for column in columns])]
    return free


def _shared_out(spare: int, widths: list[int], most: list[int]) -> list[int]:
    """Return the widths with what is left over given to the first columns that can use it."""
    shared = []
    for narrow, wide in zip(widths, most, strict=True):
        more = min(spare, wide - narrow)
        spare -= more
        shared.append(narrow + more)
    return shared


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

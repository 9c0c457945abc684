"""Tables of the terminal, drawn with rich: `model.summary()` and `function.explain()`.

A table is as wide as its content, and at most as wide as the terminal. No column and no character
is ever left out: `table_layout` breaks text that does not fit. `print_summary` is the renderer of
"summary" in `display`, `ExplanationTable` that of "explanation". Keras prints columns at fixed
positions and cuts longer text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement

from kerascope.backend.program.draft import Explanation
from kerascope.engine.costs import Cost
from kerascope.engine.summary import Summary, SummaryRow, Total
from kerascope.errors import ArgumentError
from kerascope.printable import printable
from kerascope.viz.table_layout import (
    Cell,
    Column,
    Line,
    Piece,
    natural_width,
    segments,
    table_lines,
    text_of,
    word,
    wrapped,
)

# A narrower table is hard to read.
NARROWEST = 50
WIDTH_OF_LINES = 80
TIMES = "\N{MULTIPLICATION SIGN}"


class SummaryTable:
    """A summary as a rich renderable: the model's name, a table, the totals.

    Parameters
    ----------
    summary : Summary
        The result of `engine.summary.summarize(model)`.
    width : int, optional
        Maximum width of the table; by default the width of the console.
    """

    def __init__(self, summary: Summary, width: int | None = None) -> None:
        self.summary = summary
        self.width = width
        self._columns = _columns(summary)

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines of the table as pieces of text with a style each."""
        yield from wrapped(Cell([[(f"Model: {printable(self.summary.name)}", "bold")]]), width)
        yield from table_lines(self._columns, width)
        yield []
        for line in _totals(self.summary):
            yield from wrapped(Cell([line]), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines of the table as rich segments."""
        width = min(self.width or options.max_width, options.max_width)
        yield from segments(self.lines(width), console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the minimum and the maximum width of the table, for the layout of rich."""
        most = min(self.width or options.max_width, options.max_width)
        return Measurement(min(NARROWEST, most), min(natural_width(self._columns), most))


def print_summary(
    summary: Summary,
    line_length: int | None = None,
    print_fn: Callable[[str], Any] | None = None,
    console: Console | None = None,
) -> None:
    """Print the summary of a model; the renderer of "summary" in `display`.

    Parameters
    ----------
    summary : Summary
    line_length : int, optional
        Maximum width of the table; by default the width of the terminal, or 80 with `print_fn`.
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
    Total params: 15 (60.00 B)
    Trainable params: 15 (60.00 B)
    Non-trainable params: 0 (0.00 B)
    """
    if line_length is not None and line_length < NARROWEST:
        raise ArgumentError(
            f"summary: line_length: expected at least {NARROWEST}, got {line_length!r}."
        )
    if print_fn is not None:
        for line in SummaryTable(summary).lines(line_length or WIDTH_OF_LINES):
            print_fn(text_of(line))
        return
    console = console or Console(file=sys.stdout, highlight=False, width=line_length)
    width = line_length or max(console.width, NARROWEST)
    console.print(SummaryTable(summary), width=width, no_wrap=False, crop=False)


# --- the columns ----------------------------------------------------------------------------------


def _columns(summary: Summary) -> list[Column]:
    rows, extra = summary.rows, summary.columns
    columns = [
        Column("Layer (type)", [_layer(row, "trainable" in extra) for row in rows]),
        Column("Depth", [_number(row.depth) for row in rows], is_number=True),
        Column("Output shape", [_shapes(row) for row in rows], is_whole=True),
        Column("Params", [_parameters(row) for row in rows], is_number=True),
    ]
    if "trainable" in extra:
        columns.append(Column("Trainable", [_trainable(row) for row in rows]))
    if "multiply_adds" in extra:
        columns.append(Column("Multiply-adds", [_cost(row) for row in rows], is_number=True))
    if "weight_bytes" in extra:
        columns.append(Column("Weights", [_weights(row) for row in rows], is_number=True))
    if "activation_bytes" in extra:
        columns.append(Column("Activations", [_activations(row) for row in rows], is_number=True))
    sources = [Cell([[(printable(x), "dim")] for x in row.connected_to]) for row in rows]
    return [*columns, Column("Connected to", sources)]


def _layer(row: SummaryRow, has_column_for_trainable: bool) -> Cell:
    line: Line = [(printable(row.layer), "")]
    if row.class_name:
        line.append((f"({printable(row.class_name)})", "dim"))
    if row.parameters and not row.trainable and not has_column_for_trainable:
        line.append(("frozen", "italic"))
    if row.calls > 1:
        line.append((f"{row.calls:,} calls", "italic"))
    if row.copies > 1 and row.is_again:
        line.append((f"same weights, {row.copies:,} calls", "bold"))
    elif row.copies > 1:
        line.append((f"{TIMES} {row.copies:,} copies", "bold"))
    return Cell([line], row.level)


def _number(number: int | None) -> Cell:
    return word("" if number is None else f"{number:,}", "dim")


def _shapes(row: SummaryRow) -> Cell:
    if row.output_shape is None:
        return word("" if row.calls or row.level else "?")
    shapes = row.output_shape if isinstance(row.output_shape, list) else [row.output_shape]
    return Cell([[(str(shape), "")] for shape in shapes])


def _parameters(row: SummaryRow) -> Cell:
    if row.is_again and row.parameters:
        return word("shared", "dim")
    return word(f"{row.parameters:,}", "cyan" if row.parameters else "dim")


def _trainable(row: SummaryRow) -> Cell:
    if not row.parameters:
        return word("-", "dim")
    return word("Y" if row.trainable else "N", "" if row.trainable else "bold")


def _cost(row: SummaryRow) -> Cell:
    if row.multiply_adds is None:
        return word("?" if row.calls or not row.level else "")
    return word(str(row.multiply_adds), "" if any(row.multiply_adds) else "dim")


def _weights(row: SummaryRow) -> Cell:
    if row.is_again and row.parameters:
        return word("shared", "dim")
    return word(readable_bytes(row.weight_bytes), "" if row.weight_bytes else "dim")


def _activations(row: SummaryRow) -> Cell:
    if row.activation_bytes is None:
        return word("?" if row.calls or not row.level else "")
    return word(readable_bytes(row.activation_bytes))


def readable_bytes(size: int) -> str:
    """Return a number of bytes with a fitting unit; each unit is 1024 times the one before.

    Examples
    --------
    >>> readable_bytes(60), readable_bytes(102_546_848)
    ('60.00 B', '97.80 MB')
    """
    number = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.2f} {unit}"
        number /= 1024
    return f"{number:.2f} TB"


def _of_many(names: Sequence[str]) -> str:
    """Return at most four names, separated by commas, followed by the number of other names."""
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


# --- the totals -----------------------------------------------------------------------------------


def _totals(summary: Summary) -> Iterator[Line]:
    if summary.note:
        yield [("Shown:", ""), (printable(summary.note), "")]
    if summary.opaque:
        names = printable(_of_many(summary.opaque))
        yield [("Opaque:", "bold"), (f"{names}; cannot be run here", "")]
    if summary.unsure:
        names = printable(_of_many(summary.unsure))
        yield [("Counted as trained:", ""), (f"the weights of {names}; the file does not say", "")]
    yield _total("Total params", summary.total, "bold cyan")
    yield _total("Trainable params", summary.trainable)
    yield _total("Non-trainable params", summary.non_trainable)
    if summary.optimizer.numbers:
        yield _total("Optimizer params", summary.optimizer)
    if "multiply_adds" in summary.columns:
        yield from _total_cost(summary)
    if "activation_bytes" in summary.columns:
        size = summary.activation_bytes
        text = "?" if size is None else readable_bytes(size)
        yield [("Activations per sample:", ""), (text, "")]


def _total(title: str, total: Total, style: str = "") -> Line:
    size: Piece = (f"({readable_bytes(total.bytes)})", "")
    return [(f"{title}:", ""), (f"{total.numbers:,}", style), size]


def _total_cost(summary: Summary) -> Iterator[Line]:
    cost = summary.multiply_adds or Cost(0)
    line: Line = [("Multiply-adds per sample:", ""), (str(cost), "")]
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6)):
        if cost.fixed >= size:
            line.append((f"({cost.fixed / size:.2f} {unit})", ""))
            break
    if summary.unknown_costs:
        rows = "1 row" if summary.unknown_costs == 1 else f"{summary.unknown_costs} rows"
        line.append((f"and those of {rows} of unknown cost", ""))
    yield line


# --- the steps of a compiled function -------------------------------------------------------------


class ExplanationTable:
    """The explanation of a compiled function as a table: each step, its line, result and memory.

    It is a rich renderable, the renderer of "explanation" in `display`.

    Parameters
    ----------
    explanation : Explanation
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines of the explanation as pieces of text with a style each."""
        yield from wrapped(Cell([[(self.explanation.title, "bold")]]), width)
        yield from table_lines(self._columns(), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines of the table as rich segments."""
        yield from segments(self.lines(options.max_width), console, options)

    def _columns(self) -> list[Column]:
        rows = self.explanation.rows
        return [
            Column("Step", [_cell(row.step) for row in rows]),
            Column("Line", [_cell(str(row.line or "")) for row in rows], is_number=True),
            Column("Result", [_cell(row.result) for row in rows]),
            Column("Written as", [_cell(row.written_as) for row in rows]),
            Column("Memory", [_cell(row.memory) for row in rows]),
        ]


def _cell(text: str) -> Cell:
    return Cell([[(word, "") for word in text.split()]])

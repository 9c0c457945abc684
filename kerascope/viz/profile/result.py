"""The result of `profile`: its tables for terminals, text and notebooks, and its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from kerascope.backend.program.profiling import MeasuredLine
from kerascope.engine.network import Network
from kerascope.engine.node_ids import clean
from kerascope.errors import ArgumentError
from kerascope.printable import printable
from kerascope.registry import did_you_mean
from kerascope.trace.records import counted
from kerascope.viz.collapse.view import View
from kerascope.viz.draw import draw
from kerascope.viz.drawing import Drawing, check_target
from kerascope.viz.extract.networks import layers_by_path
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.overlays.marking import paths_of_boxes
from kerascope.viz.overlays.times import Times, readable_share, readable_time, with_times
from kerascope.viz.profile.rows import (
    ORDERS,
    LayerRow,
    PhaseRow,
    ProfileRow,
    Roofline,
    layer_rows,
    phase_rows,
    rows_of,
)
from kerascope.viz.table_layout import (
    Cell,
    Column,
    Line,
    natural_width,
    segments,
    table_lines,
    text_of,
    word,
    wrapped,
)
from kerascope.viz.tables import readable_bytes
from kerascope.viz.theme import OKABE_ITO


class Profile:
    """The time and memory used by one call of a function.

    Parameters
    ----------
    measured : Measured
    model : Network, optional
        The model of the function. It assigns ops to layers and can be drawn.
    roofline : Roofline
    sort : str
        The order of the ops; one of `rows.ORDERS`.
    most : int or None
        How many ops the tables show; None shows all.

    Attributes
    ----------
    rows : list of ProfileRow
        One row for each op, in the order of the program.
    phases : list of PhaseRow
    layers : list of LayerRow

    Examples
    --------
    >>> import kerascope as ks
    >>> x, limits = ks.K.placeholder((1, 3)), Roofline(1e9, 256, {1024: 4e9})
    >>> double = ks.K.function([x], [2.0 * x], name="double")
    >>> found = ks.profile(double, [[[1.0, 2.0, 3.0]]], repeats=3, roofline=limits)
    >>> found.name, [row.op for row in found.rows], found.seconds > 0
    ('double', ['multiply', 'return'], True)
    """

    def __init__(
        self,
        measured: Any,
        model: Network | None,
        roofline: Roofline,
        sort: str = "time",
        most: int | None = 20,
    ) -> None:
        check_order(sort)
        self.measured = measured
        self.model = model
        self.roofline = roofline
        self.sort = sort
        self.most = most
        lines = measured.lines if model is None else with_layers(measured.lines, model)
        self.rows: list[ProfileRow] = rows_of(lines, roofline)

    @property
    def name(self) -> str:
        """The function's name, and the name of its model."""
        return self.measured.name + (f" of {self.model.name}" if self.model is not None else "")

    @property
    def seconds(self) -> float:
        """The time of one call: the sum over all ops."""
        return sum(row.seconds for row in self.rows)

    @property
    def phases(self) -> list[PhaseRow]:
        """The time of each phase, in the order of the phases of a step."""
        return phase_rows(self.rows)

    @property
    def layers(self) -> list[LayerRow]:
        """The time and memory of each layer, in the order of their first ops."""
        classes = {}
        if self.model is not None:
            found = layers_by_path(self.model).items()
            classes = {path: type(layer).__name__ for path, layer in found}
        return layer_rows(self.rows, classes)

    def sorted_rows(self) -> list[ProfileRow]:
        """Return the rows of the ops, sorted as `sort` requires."""
        return sorted(self.rows, key=ORDERS[self.sort])

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as dicts, lists, strings and numbers, for JSON."""
        measured = self.measured
        return {
            "function": measured.name,
            "model": None if self.model is None else self.model.name,
            "inputs": [list(shape) for shape in measured.inputs],
            "inputs_are_made_up": measured.are_made_up,
            "calls_measured": measured.calls,
            "seconds": self.seconds,
            "seconds_without_clock": measured.whole,
            "python_seconds": measured.python,
            "planned_bytes": measured.planned,
            "result_bytes": measured.needed,
            "gemm_flops": self.roofline.flops,
            "copy_bytes_per_second": {str(n): rate for n, rate in self.roofline.bytes.items()},
            "phases": [row._asdict() for row in self.phases],
            "layers": [row._asdict() for row in self.layers],
            "ops": [row._asdict() for row in self.sorted_rows()],
        }

    # --- display ---

    def __repr__(self) -> str:
        """Return one line: the measured function, and how long a call takes."""
        return (
            f"<Profile of {self.name}: {readable_time(self.seconds)} a call, "
            f"{len(self.rows)} ops. print() it, or .draw() it>"
        )

    def __str__(self) -> str:
        """Return the tables as text, for `print`."""
        return "\n".join(map(text_of, lines_of(self, WIDTH)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables as rich segments, for a terminal."""
        yield from segments(lines_of(self, options.max_width), console, options)

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for a notebook."""
        return html_of(self)

    def draw(self, to: str | PathLike[str] | None = None, **options: Any) -> Drawing:
        """Draw the model with each box filled by its share of the time.

        Parameters
        ----------
        to : path, optional
            Also save the picture there.
        **options
            As for `ks.draw`: `expand`, `most`, `rankdir`, `theme`, ...

        Raises
        ------
        ArgumentError
            The model of the function is unknown.
        """
        if self.model is None:
            raise ArgumentError(
                f"profile: the model of {self.measured.name} is unknown, so its layers cannot be "
                f"drawn. Use ks.draw(function) to draw its ops."
            )
        if to is not None:
            check_target(to)
        graph = graph_of(self.model, "node", True, "profile")
        plain = draw(graph, **options)
        what = f"a call of {self.measured.name}"
        marked = with_times(plain.whole, self._times(graph), self.seconds, what)
        drawing = Drawing(
            View(marked, plain.view.closed), plain.options,
            engine=plain.engine, dpi=plain.dpi, time_limit=plain.time_limit,
        )  # fmt: skip
        if to is not None:
            drawing.save(to)
        return drawing

    def _times(self, graph: Any) -> dict[str, Times]:
        """Return the times of boxes and frames by id. Calls of a layer share its time equally."""
        of_layers = {row.layer: row for row in self.layers}
        boxes: dict[str, list[str]] = {}
        for box, path in paths_of_boxes(graph).items():
            boxes.setdefault(path, []).append(box)
        found: dict[str, Times] = {}
        for path, ids in boxes.items():
            row = of_layers.get(path)
            if row is not None:
                n = len(ids)
                times = Times(row.forward / n, row.backward / n, row.update / n, n)
                found.update(dict.fromkeys(ids, times))
        return found


def check_order(sort: str) -> None:
    """Raise ArgumentError unless `sort` is a known order of ops."""
    if sort not in ORDERS:
        raise ArgumentError(
            f"profile: unknown order {sort!r}. {did_you_mean(str(sort), ORDERS)}"
            f"Use one of: {', '.join(ORDERS)}."
        )


# --- layers ---------------------------------------------------------------------------------------


def with_layers(lines: Sequence[MeasuredLine], model: Network) -> list[MeasuredLine]:
    """Return measured lines of a program, each with the path of its layer: `encoder/dense_1`."""
    layers = layers_by_path(model)
    owners = {clean(w.name): path for path, layer in layers.items() for w in layer.weights}
    return [replace(line, layer=_path(line, layers, owners)) for line in lines]


def _path(line: MeasuredLine, layers: Mapping[str, Any], owners: Mapping[str, str]) -> str:
    """Return the path of the layer whose weight an op updates, or in whose scope the op is."""
    weight = line.scope.removeprefix("update/")
    if weight in owners:
        return owners[weight]
    parts = line.layer.split("/")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end])
        if path in layers:
            return path
    same = [path for path in layers if path.rpartition("/")[2] == parts[0]]
    return same[0] if len(same) == 1 and parts[0] else line.layer


# --- tables: phases, layers, ops and limits -------------------------------------------------------

WIDTH = 100  # width of text without a terminal
BAR = 16  # columns of the longest bar
EIGHTHS = " ▏▎▍▌▋▊▉█"
# Columns left out of a table that is too wide, in this order.
SPARE = ("", "Memory", "Results", "Phase")


def lines_of(profile: Profile, width: int) -> Iterator[Line]:
    """Yield the lines of all tables as pieces of text with styles."""
    for number, line in enumerate(_heading(profile)):
        yield from wrapped(Cell([[(line, "" if number else "bold")]]), width)
    for title, columns in tables_of(profile):
        yield []
        yield from wrapped(Cell([[(title, "bold")]]), width)
        yield from table_lines(_fitting(columns, width), width)
    yield []
    for line in _notes(profile):
        yield from wrapped(Cell([[(line, "")]]), width)


def _fitting(columns: list[Column], width: int) -> list[Column]:
    """Return the columns of a table. If it is too wide, the least important are left out."""
    for title in SPARE:
        if natural_width(columns) <= width:
            break
        columns = [columns[0], *(one for one in columns[1:] if one.title != title)]
    return columns


def _heading(profile: Profile) -> Iterator[str]:
    measured = profile.measured
    shapes = ", ".join(map(str, measured.inputs)) or "none"
    made_up = ", with made-up numbers" if measured.are_made_up else ""
    yield f"{printable(profile.name)}: {readable_time(profile.seconds)} a call"
    yield f"Median of {counted(measured.calls, 'call')}; inputs {shapes}{made_up}"
    if measured.is_on_jax:
        yield "These are times of NumPy. JAX computes the function otherwise, in one piece."


def tables_of(profile: Profile) -> Iterator[tuple[str, list[Column]]]:
    """Yield the title and the columns of each table of a profile: by phase, by layer, by op."""
    yield "By phase", _phase_columns(profile.phases)
    yield "By layer", _layer_columns(profile.layers)
    rows = profile.sorted_rows()
    some = rows[: profile.most]
    title = f"By op, sorted by {profile.sort}"
    if len(some) < len(rows):
        rest = readable_share(sum(row.share for row in rows[len(some) :]))
        title += f": {len(some)} of {len(rows)} (the others take {rest})"
    yield title, _op_columns(some)


# --- columns --------------------------------------------------------------------------------------


def _phase_columns(rows: Sequence[PhaseRow]) -> list[Column]:
    return [
        Column("Phase", [word(row.phase) for row in rows]),
        *_times(rows),
        _numbers("Ops", [str(row.ops) for row in rows]),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
    ]


def _layer_columns(rows: Sequence[LayerRow]) -> list[Column]:
    names: list[Cell] = []
    for row in rows:
        line: Line = [(printable(row.layer), "")]
        names.append(Cell([[*line, (f"({row.class_name})", "dim")] if row.class_name else line]))
    return [
        Column("Layer (type)", names),
        _numbers("Forward", [_time(row.forward) for row in rows]),
        _numbers("Backward", [_time(row.backward) for row in rows]),
        _numbers("Update", [_time(row.update) for row in rows]),
        *_times(rows),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
    ]


def _op_columns(rows: Sequence[ProfileRow]) -> list[Column]:
    return [
        Column("Op", [word(printable(row.name)) for row in rows]),
        Column("Phase", [word(row.phase, "dim") for row in rows]),
        *_times(rows),
        _numbers("Rate", [_rate(row) for row in rows]),
        _numbers("Of limit", [_of_limit(row) for row in rows]),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
        Column("Memory", [word(_short(row.memory), "dim") for row in rows]),
        Column("Made at", [word(row.made_at, "dim") for row in rows]),
    ]


def _times(rows: Sequence[PhaseRow] | Sequence[LayerRow] | Sequence[ProfileRow]) -> list[Column]:
    greatest = max((row.share for row in rows), default=0.0)
    return [
        _numbers("Time", [_time(row.seconds) for row in rows], "bold"),
        _numbers("Share", [readable_share(row.share) for row in rows]),
        Column("", [word(bar(row.share, greatest), "yellow") for row in rows]),
    ]


def bar(share: float, greatest: float) -> str:
    """Return a bar of characters for a share. The bar of the largest share has 16 characters.

    Examples
    --------
    >>> bar(0.25, 0.5), len(bar(0.5, 0.5)), bar(0.0, 0.5)
    ('████████', 16, '')
    """
    eighths = round(8 * BAR * share / greatest) if greatest else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _numbers(title: str, texts: Sequence[str], style: str = "") -> Column:
    return Column(title, [word(text, style) for text in texts], is_number=True)


def _time(seconds: float) -> str:
    return readable_time(seconds) if seconds else ""


def _bytes(size: int) -> str:
    return readable_bytes(size) if size else ""


def _short(memory: str) -> str:
    return "again" if memory.startswith("again") else memory


def _rate(row: ProfileRow) -> str:
    if not row.rate:
        return ""
    return f"{row.rate / 1e9:.1f} {'GF/s' if row.multiply_adds else 'GB/s'}"


def _of_limit(row: ProfileRow) -> str:
    if row.of_limit is None:
        return ""
    return f"{readable_share(row.of_limit)} {'GEMM' if row.bound_by == 'products' else 'copy'}"


# --- notes ----------------------------------------------------------------------------------------


def _notes(profile: Profile) -> Iterator[str]:
    measured, roofline = profile.measured, profile.roofline
    if measured.python is not None and measured.whole:
        share = readable_share(measured.python / measured.whole)
        yield (
            f"Python: {readable_time(measured.python)} ({share}) to execute the lines "
            f"of the program; the rest is NumPy."
        )
    yield (
        f"Check: without a clock reading after each line, a call takes "
        f"{readable_time(measured.whole)}."
    )
    yield (
        f"Memory: {readable_bytes(measured.planned)} reserved once, for "
        f"{readable_bytes(measured.needed)} of results in each call"
        f"{_anew(profile)}."
    )
    rates = ", ".join(f"{rate / 1e9:.1f} at {_size(n)}" for n, rate in roofline.bytes.items())
    yield (
        f"Limits, measured now: {roofline.flops / 1e9:.1f} GF/s (billion floating point "
        f"operations per second) for the best product (GEMM) of float32 matrices, "
        f"{roofline.size} x {roofline.size}; copies in GB/s: {rates}."
    )


def _anew(profile: Profile) -> str:
    anew = sum(row.n_bytes for row in profile.rows if row.memory == "each call")
    return f"; {readable_bytes(anew)} of them are newly allocated" if anew else ""


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KB"


# --- notebooks ------------------------------------------------------------------------------------


def html_of(profile: Profile) -> str:
    """Return the tables as HTML, for a notebook."""
    title, *heading = _heading(profile)
    parts = [f"<p><b>{escape(title)}</b></p>", *(f"<p>{escape(line)}</p>" for line in heading)]
    for title, columns in tables_of(profile):
        parts.append(f"<p><b>{escape(title)}</b></p>{_html_table(columns)}")
    parts += [f"<p>{escape(line)}</p>" for line in _notes(profile)]
    return "\n".join(parts)


def _html_table(columns: Sequence[Column]) -> str:
    lines = [_html_row("th", columns, [escape(column.title) for column in columns])]
    for cells in zip(*(column.cells for column in columns), strict=True):
        texts = [" ".join(text for line in cell.lines for text, _ in line) for cell in cells]
        shown_texts = [
            escape(text) if column.title else _html_bar(text)
            for column, text in zip(columns, texts, strict=True)
        ]
        lines.append(_html_row("td", columns, shown_texts))
    return f"<table>{''.join(lines)}</table>"


def _html_bar(text: str) -> str:
    """Return a bar of characters as an HTML element."""
    eighths = sum(EIGHTHS.index(sign) for sign in text)
    style = f"width:{eighths / 16:g}em;height:.8em;background:{OKABE_ITO['orange']}"
    return f'<div style="{style}"></div>' if text else ""


def _html_row(tag: str, columns: Sequence[Column], texts: Sequence[str]) -> str:
    sides = ["right" if column.is_number else "left" for column in columns]
    cells = [
        f'<{tag} style="text-align:{side};white-space:nowrap">{text}</{tag}>'
        for side, text in zip(sides, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"

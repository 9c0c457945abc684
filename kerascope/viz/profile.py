"""`profile`: where the time of a model's step goes, by layer, by op and by phase.

    profile = ks.profile(model, x, y)   # or ks.profile(function), or `kerascope profile script.py`
    print(profile)                      # tables
    profile.draw("times.svg")           # the model, each box filled by its share of the time

What is measured is said in `backend.program.profiling`, against what in `profile_rows`. Below come
the result and `profile` itself, which functions of a model are profiled on which batch, and the
tables.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from time import perf_counter_ns
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from kerascope.backend.function import Function
from kerascope.backend.program.profiling import MeasuredLine, measure
from kerascope.engine.feeding import phase_flags, training_arrays
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.node_ids import clean
from kerascope.engine.training_data import inputs_as_arrays
from kerascope.errors import ArgumentError, DtypeError, NotCompiledError
from kerascope.model_files import opened
from kerascope.not_a_model import described
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
from kerascope.viz.profile_rows import (
    ORDERS,
    LayerRow,
    PhaseRow,
    ProfileRow,
    Roofline,
    layer_rows,
    measure_roofline,
    phase_rows,
    rows_of,
)
from kerascope.viz.table_layout import (
    Cell,
    Column,
    Line,
    laid_out,
    natural_width,
    printed,
    text_of,
    word,
    wrapped,
)
from kerascope.viz.tables import readable_bytes
from kerascope.viz.theme import OKABE_ITO

__all__ = ["Profile", "profile"]

BATCH_SIZE = 32  # that of `fit`


class Profile:
    """What a call of a function costs.

    Parameters
    ----------
    measured : Measured
    model : Network, optional
        Whose function it is: tells which layer an op belongs to, and can be drawn.
    roofline : Roofline
    sort : str
        In which order the ops are shown; one of `profile_data.ORDERS`.
    most : int or None
        How many ops the tables show; None for all.

    Attributes
    ----------
    rows : list of ProfileRow
        One for each op, in the order of the program.
    phases : list of PhaseRow
    layers : list of LayerRow
    """

    def __init__(
        self,
        measured: Any,
        model: Network | None,
        roofline: Roofline,
        sort: str = "time",
        most: int | None = 20,
    ) -> None:
        _check_order(sort)
        self.measured = measured
        self.model = model
        self.roofline = roofline
        self.sort = sort
        self.most = most
        lines = measured.lines if model is None else with_layers(measured.lines, model)
        self.rows: list[ProfileRow] = rows_of(lines, roofline)

    @property
    def name(self) -> str:
        """The function's name, and whose it is."""
        return self.measured.name + (f" of {self.model.name}" if self.model is not None else "")

    @property
    def seconds(self) -> float:
        """The time of a call: that of all its ops."""
        return sum(row.seconds for row in self.rows)

    @property
    def phases(self) -> list[PhaseRow]:
        """The time of each phase, in the order in which they come."""
        return phase_rows(self.rows)

    @property
    def layers(self) -> list[LayerRow]:
        """The time and memory of each layer, in the order in which they come first."""
        classes = {}
        if self.model is not None:
            found = layers_by_path(self.model).items()
            classes = {path: type(layer).__name__ for path, layer in found}
        return layer_rows(self.rows, classes)

    def sorted_rows(self) -> list[ProfileRow]:
        """Return the ops in the order in which they are shown."""
        return sorted(self.rows, key=ORDERS[self.sort])

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, for JSON."""
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

    # --- showing itself ---

    def __repr__(self) -> str:
        """Return one line: what was measured, and how long it takes."""
        return (
            f"<Profile of {self.name}: {readable_time(self.seconds)} a call, "
            f"{len(self.rows)} ops. print() it, or .draw() it>"
        )

    def __str__(self) -> str:
        """Return the tables as text, for `print`."""
        return "\n".join(map(text_of, lines_of(self, WIDTH)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables for a terminal."""
        yield from printed(lines_of(self, options.max_width), console, options)

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        return html_of(self)

    def draw(self, to: str | PathLike[str] | None = None, **options: Any) -> Drawing:
        """Draw the model, with each box filled by its share of the time.

        Parameters
        ----------
        to : path, optional
            Also save it there.
        **options
            As for `ks.draw`: `expand`, `most`, `rankdir`, `theme`, ...

        Raises
        ------
        ArgumentError
            The function belongs to no model that is known.
        """
        if self.model is None:
            raise ArgumentError(
                f"profile: {self.measured.name} is the function of no model that is known, so "
                f"there are no layers to draw. ks.draw(function) draws its ops."
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
        """Return the times by the ids of boxes and frames; a layer's calls count alike."""
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


def profile(
    subject: Any,
    x: Any = None,
    y: Any = None,
    *,
    of: str | None = None,
    batch_size: int | None = BATCH_SIZE,
    sort: str = "time",
    most: int | None = 20,
    repeats: int | None = None,
    seconds: float = 1.0,
    roofline: Roofline | None = None,
    clock: Callable[[], int] = perf_counter_ns,
) -> Profile:
    """Measure where the time and the memory of a model's step, or of a function, go.

    Nothing in the model changes: no weight, no state, no random number.

    Parameters
    ----------
    subject : Model, path or Function
        A path is that of a file of a model.
    x, y : array_like, list of array_like or dict
        For a model a batch, as for `fit`; its first `batch_size` rows count. For a function `x` is
        the list of its inputs; if it is left out, made-up numbers in the shapes that came last.
    of : {"train", "test", "predict"}, optional
        Which function of the model; by default "train" with `y` and "predict" without.
    batch_size : int or None
    sort : {"time", "memory", "limit", "name", "order"}
        How the ops are sorted in the tables.
    most : int or None
        How many ops the tables show; None for all.
    repeats : int, optional
        How many calls are measured; by default as many as fit into `seconds`.
    seconds : float
    roofline : Roofline, optional
        What the machine can do; measured if it is left out.
    clock : callable
        Returns nanoseconds.

    Returns
    -------
    Profile

    Raises
    ------
    DtypeError
        The subject is neither a model nor a function.
    ArgumentError
        An option makes no sense, or there is nothing to measure on.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(1, name="sum")(inputs), name="small")
    >>> model.compile("sgd", "mse")
    >>> found = profile(model, np.ones((4, 3)), np.ones((4, 1)), repeats=3)
    >>> [row.phase for row in found.phases], [row.layer for row in found.layers][:2]
    (['forward', 'loss', 'backward', 'update', 'return'], ['sum', 'sum_loss'])
    """
    _check_order(sort)
    subject = opened(subject, compile=y is not None)
    if isinstance(subject, Model):
        model: Network | None = subject
        function, inputs = function_of(subject, x, y, of, batch_size)
    elif isinstance(subject, Function):
        if y is not None or of is not None:
            raise ArgumentError("profile: y and of belong to a model; a function has a list x.")
        function, inputs, model = subject, x, owner_of(subject)
    else:
        raise DtypeError(
            f"profile: expected a model or a function, got {described(subject)}. Write "
            f"ks.profile(model, x, y) or ks.profile(model.train_function)."
        )
    measured = measure(function, inputs, repeats=repeats, seconds=seconds, clock=clock)
    return Profile(measured, model, roofline or measure_roofline(clock), sort, most)


def _check_order(sort: str) -> None:
    if sort not in ORDERS:
        raise ArgumentError(
            f"profile: unknown order {sort!r}. {did_you_mean(str(sort), ORDERS)}"
            f"Expected one of {', '.join(ORDERS)}."
        )


# --- what of a model is profiled, and whose its ops are -------------------------------------------

FUNCTIONS = ("train", "test", "predict")


def owner_of(function: Function) -> Model | None:
    """Return the model that has made a function, None if there is none any more."""
    kinds = _kinds_of(
        Model
    )  # all objects of the process are looked at: asking each class takes long
    for one in gc.get_objects():
        if type(one) in kinds:
            names = vars(one)
            if any(names.get(f"{name}_function") is function for name in FUNCTIONS):
                model: Model = one
                return model
    return None


def _kinds_of(cls: type) -> set[type]:
    """Return a class and all below it."""
    return {cls}.union(*map(_kinds_of, cls.__subclasses__()))


def function_of(
    model: Any, x: Any, y: Any, of: str | None, batch_size: int | None
) -> tuple[Function, Sequence[Any] | None]:
    """Return the function of a model, and a batch for it."""
    of = of or ("predict" if y is None and x is not None else "train")
    if of not in FUNCTIONS:
        raise ArgumentError(
            f"profile: unknown function {of!r}. {did_you_mean(str(of), FUNCTIONS)}"
            f"Expected one of {', '.join(FUNCTIONS)}."
        )
    if x is None:
        function = getattr(model, f"{of}_function")
        if function is None:
            raise ArgumentError(
                f"profile: {model.name} has no {of} function yet; say on what: "
                f"profile(model, x, y)."
            )
        return function, None
    if of == "predict":
        model._make_ready(x, to_train=False)
        inputs = inputs_as_arrays(model, x) + phase_flags(model, 0.0)
        return model._make_predict_function(), _rows(inputs, batch_size)
    if not model.is_compiled:
        raise NotCompiledError(f"profile: {model.name} has no loss; model.compile(...) it first.")
    model._make_ready(x, to_train=True)
    inputs = training_arrays(model, x, y, None, None, float(of == "train"), "profile")
    if of == "test":
        return model._make_test_function(), _rows(inputs, batch_size)
    model._make_train_function()
    return model.train_function, _rows(inputs, batch_size)


def _rows(inputs: Sequence[Any], batch_size: int | None) -> list[Any]:
    """Return the first rows of all arrays; the phase is a number and has none."""
    return [x if isinstance(x, float) else x[:batch_size] for x in inputs]


# --- layers ---------------------------------------------------------------------------------------


def with_layers(lines: Sequence[MeasuredLine], model: Network) -> list[MeasuredLine]:
    """Return the lines with the paths of the model's layers: `encoder/dense_1`."""
    layers = layers_by_path(model)
    owners = {clean(w.name): path for path, layer in layers.items() for w in layer.weights}
    return [replace(line, layer=_path(line, layers, owners)) for line in lines]


def _path(line: MeasuredLine, layers: Mapping[str, Any], owners: Mapping[str, str]) -> str:
    """Return the layer that an op belongs to: whose weight it updates, or in whose scope it is."""
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


# --- tables: phases, layers, ops, and what they are compared with ---------------------------------

WIDTH = 100  # of a text that is printed without a terminal
BAR = 16  # columns of the longest bar
EIGHTHS = " ▏▎▍▌▋▊▉█"
# What is left out of a table that is too wide, first to last.
SPARE = ("", "Memory", "Results", "Phase")


def lines_of(profile: Profile, width: int) -> Iterator[Line]:
    """Yield the lines of all tables as pieces of text with a style each."""
    for number, line in enumerate(_heading(profile)):
        yield from wrapped(Cell([[(line, "" if number else "bold")]]), width)
    for title, columns in tables_of(profile):
        yield []
        yield from wrapped(Cell([[(title, "bold")]]), width)
        yield from laid_out(_fitting(columns, width), width)
    yield []
    for line in _notes(profile):
        yield from wrapped(Cell([[(line, "")]]), width)


def _fitting(columns: list[Column], width: int) -> list[Column]:
    """Return the columns without as many of the spare ones as make the others fit."""
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


def tables_of(profile: Profile) -> Iterator[tuple[str, list[Column]]]:
    """Yield the title and the columns of each table."""
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
    """Return a bar for a share; the greatest has 16 columns.

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
            f"Python: {readable_time(measured.python)} ({share}) to go from line to line; "
            f"the rest is NumPy."
        )
    yield (
        f"Check: without the clock between its lines a call takes {readable_time(measured.whole)}."
    )
    yield (
        f"Memory: {readable_bytes(measured.planned)} planned once, for "
        f"{readable_bytes(measured.needed)} of results in each call"
        f"{_anew(profile)}."
    )
    rates = ", ".join(f"{rate / 1e9:.1f} at {_size(n)}" for n, rate in roofline.bytes.items())
    yield (
        f"Limits, measured now: {roofline.flops / 1e9:.1f} GF/s (thousand million floating point "
        f"operations in a second) for the best product (GEMM) of float32 matrices, "
        f"{roofline.size} x {roofline.size}; copies in GB/s: {rates}."
    )


def _anew(profile: Profile) -> str:
    anew = sum(row.n_bytes for row in profile.rows if row.memory == "each call")
    return f", of which {readable_bytes(anew)} are allocated anew" if anew else ""


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KB"


# --- notebooks ------------------------------------------------------------------------------------


def html_of(profile: Profile) -> str:
    """Return the tables as HTML."""
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
    """Return a bar of characters as one of a browser."""
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

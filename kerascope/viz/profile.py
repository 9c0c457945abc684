"""`profile`: where the time of a model's step goes, by layer, by op and by phase.

    profile = ks.profile(model, x, y)   # or ks.profile(function), or `kerascope profile script.py`
    print(profile)                      # tables
    profile.draw("times.svg")           # the model, each box filled by its share of the time

What is measured is said in `backend.program.profiling`, against what in `profile_roofline`.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from time import perf_counter_ns
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from kerascope.backend.function import Function
from kerascope.backend.program.profiling import measure
from kerascope.engine.compiled_network import CompiledNetwork
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, DtypeError
from kerascope.registry import did_you_mean
from kerascope.viz.draw import draw
from kerascope.viz.drawing import Drawing, check_target
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.overlays.gradient_norms import layers_by_path
from kerascope.viz.overlays.marking import paths_of_boxes
from kerascope.viz.overlays.times import Times, readable_time, with_times
from kerascope.viz.profile_data import (
    ORDERS,
    LayerRow,
    PhaseRow,
    Row,
    layer_rows,
    phase_rows,
    rows_of,
)
from kerascope.viz.profile_roofline import Roofline, measure_roofline
from kerascope.viz.profile_subjects import BATCH_SIZE, function_of, owner_of, with_layers
from kerascope.viz.profile_table import html_of, printed, text_of
from kerascope.viz.views import View


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
    rows : list of Row
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
        self.rows: list[Row] = rows_of(lines, roofline)

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

    def sorted_rows(self) -> list[Row]:
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
        return text_of(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables for a terminal."""
        yield from printed(self, console, options)

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
    subject : Model or Function
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
    if isinstance(subject, CompiledNetwork):
        model: Network | None = subject
        function, inputs = function_of(subject, x, y, of, batch_size)
    elif isinstance(subject, Function):
        if y is not None or of is not None:
            raise ArgumentError("profile: y and of belong to a model; a function has a list x.")
        function, inputs, model = subject, x, owner_of(subject)
    else:
        raise DtypeError(
            f"profile: expected a model or a function, got {type(subject).__name__}. Write "
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


__all__ = ["Profile", "profile"]

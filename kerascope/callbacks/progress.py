"""How far training is: the data of a progress bar, and the plain lines that need no terminal.

`ProgbarLogger` counts for `fit`, `Progbar` for `evaluate`, `predict` and anybody. Both make
`Progress` objects and hand them to the edge as "progress"; `viz.progress` draws them as a bar.
Where nobody draws, and with `verbose=2`, each epoch is written as two lines, without clock times,
so that the same run writes the same text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from kerascope import display
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.recording import RunningMeans
from kerascope.errors import ArgumentError
from kerascope.printable import printable

SMALLEST_DECIMAL = 1e-3
Moment = Literal["started", "running", "finished"]
COUNTED = ("samples", "steps")
Item = TypeVar("Item")
Values = Iterable[tuple[str, Any]] | None


@dataclass(frozen=True)
class Progress:
    """One moment of a run, ready to be drawn.

    Attributes
    ----------
    moment : {"started", "running", "finished"}
        "started" comes once, before anything was seen; "finished" once, with the final figures.
    seen : int
        Samples or steps so far.
    target : int or None
        How many there will be; None if nobody knows.
    logs : mapping of str to float
        Mean figures so far. Made for this object; nobody changes it later.
    epoch, epochs : int or None
        Number of the epoch, from 1, and of the last one; None outside of training.
    width : int
        Columns of the bar.
    interval : float
        Seconds that pass at least between two redraws.
    """

    moment: Moment
    seen: int
    target: int | None
    logs: Mapping[str, Any] = field(default_factory=dict)
    epoch: int | None = None
    epochs: int | None = None
    width: int = 30
    interval: float = 0.1

    @property
    def title(self) -> str | None:
        """The words "Epoch 1/10", None outside of training."""
        return None if self.epoch is None else f"Epoch {self.epoch}/{self.epochs}"

    @property
    def count(self) -> str:
        """What was seen, of how much: "32/50"."""
        if self.target is None:
            return str(self.seen)
        return f"{self.seen:>{len(str(self.target))}}/{self.target}"

    @property
    def figures(self) -> list[str]:
        """The mean figures as words: "loss: 7.6246"."""
        return [f"{printable(name)}: {written(value)}" for name, value in self.logs.items()]


def written(value: Any) -> str:
    """Return a figure with four digits after the point, in powers of ten if it is tiny.

    Examples
    --------
    >>> written(7.62462), written(0.00012345), written([1.0, 2.5])
    ('7.6246', '1.2345e-04', '[1.0000, 2.5000]')
    """
    if np.ndim(value) > 0:
        return "[" + ", ".join(written(item) for item in value) + "]"
    return f"{value:.4e}" if abs(value) <= SMALLEST_DECIMAL else f"{value:.4f}"


def in_rows(
    items: Iterable[Item], width: int | None, gap: int, length: Callable[[Item], int]
) -> list[list[Item]]:
    """Return items in rows that are at most `width` columns long; an item is never torn.

    Examples
    --------
    >>> in_rows(["1/2", "loss: 0.5", "acc: 1"], 18, gap=3, length=len)
    [['1/2', 'loss: 0.5'], ['acc: 1']]
    """
    rows: list[list[Item]] = [[]]
    column = 0
    for item in items:
        column += gap + length(item)
        if width is not None and rows[-1] and column - gap > width:
            rows.append([])
            column = gap + length(item)
        rows[-1].append(item)
    return rows


def progress_lines(progress: Progress) -> None:
    """Print a line when an epoch starts and one when it is finished.

    A terminal that is too narrow gets the figures in several lines.

    Examples
    --------
    >>> progress_lines(Progress("started", 0, 50, epoch=1, epochs=10))
    Epoch 1/10
    >>> progress_lines(Progress("finished", 50, 50, {"loss": 7.62462, "acc": 0.5}, 1, 10))
    50/50 - loss: 7.6246 - acc: 0.5000
    """
    if progress.moment == "started" and progress.title is not None:
        print(progress.title, flush=True)
    if progress.moment == "finished":
        import shutil  # its archive modules are not worth loading for runs without a terminal

        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        rows = in_rows([progress.count, *progress.figures], width, len(" - "), len)
        print("\n".join(" - ".join(row) for row in rows), flush=True)


class Progbar:
    """Counts up to a target and shows how far it is.

    Parameters
    ----------
    target : int or None
        How many samples or steps there will be; None if nobody knows.
    width : int
        Columns of the bar.
    verbose : {0, 1, 2}
        0 silent, 1 a bar (plain lines where there is no terminal), 2 plain lines.
    interval : float
        Seconds that pass at least between two redraws.
    stateful_metrics : iterable of str, optional
        Figures that are shown as they come, not averaged.
    epoch, epochs : int, optional
        Number of the epoch, from 1, and of the last one.
    means : RunningMeans, optional
        Figures that somebody else keeps; then the bar is given none.

    Examples
    --------
    >>> bar = Progbar(4, verbose=2)
    >>> bar.update(3, [("loss", 1.0)])
    >>> bar.update(4, [("loss", 5.0)])
    4/4 - loss: 2.0000
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.1,
        stateful_metrics: Iterable[str] | None = None,
        *,
        epoch: int | None = None,
        epochs: int | None = None,
        means: RunningMeans | None = None,
    ) -> None:
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.epoch = epoch
        self.epochs = epochs
        self.seen = 0
        self.finished = False
        self._means = RunningMeans(stateful_metrics) if means is None else means
        self._draw = _drawer(verbose)
        self._show("started", {})

    @property
    def stateful_metrics(self) -> frozenset[str]:
        """Names of the figures that are not averaged."""
        return self._means.stateful_metrics

    @property
    def means(self) -> RunningMeans:
        """The means so far."""
        return self._means

    def update(self, current: int, values: Values = None) -> None:
        """Go to `current`; at the target, finish.

        Parameters
        ----------
        current : int
            Samples or steps so far, in all.
        values : list of (str, float), optional
            Figures of what was seen since the last update; they count by how much that was.
        """
        self.add(current - self.seen, values)

    def add(self, n: int, values: Values = None) -> None:
        """Go `n` further; at the target, finish."""
        self.advance(n, values)
        if self.target is not None and self.seen >= self.target:
            self.finish()

    def advance(self, n: int, values: Values = None) -> None:
        """Go `n` further; whoever calls will also call `finish`."""
        self.seen += n
        if not self.verbose:
            return
        for name, value in values or ():
            self._means.add(name, value, n)
        if self._is_followed() and (self.target is None or self.seen < self.target):
            self._show("running", self._means.results())

    def finish(self, final: Mapping[str, Any] | None = None) -> None:
        """Show the end, even short of the target; figures in `final` replace the means so far.

        Only the first call does anything.
        """
        if self.finished:
            return
        self.finished = True
        self._show("finished", {**self._means.results(), **(final or {})})

    def _is_followed(self) -> bool:
        """Tell whether anybody draws what is between the start and the end, and draws it now.

        Who draws may have a function `is_due(interval)` that says so; else every moment is drawn.
        """
        if self.finished or self.verbose != 1 or self._draw is progress_lines:
            return False
        is_due = getattr(self._draw, "is_due", None)
        return is_due is None or bool(is_due(self.interval))

    def _show(self, moment: Moment, logs: dict[str, Any]) -> None:
        if not self.verbose:
            return
        place = (self.seen, self.target, logs, self.epoch, self.epochs)
        self._draw(Progress(moment, *place, self.width, self.interval))


def _drawer(verbose: int) -> Callable[[Progress], Any]:
    """Return what draws: with `verbose=1` only what is registered at the edge, a terminal's bar."""
    if verbose == 0:
        return lambda progress: None
    return display.renderer("progress", progress_lines) if verbose == 1 else progress_lines


@registry.register
class ProgbarLogger(Callback):
    """Shows how far each epoch is. `fit` has one unless `verbose=0`.

    Parameters
    ----------
    count_mode : {"samples", "steps"}
        What is counted.
    stateful_metrics : iterable of str, optional
        Metrics that average for themselves: they are shown as they come.

    Attributes
    ----------
    means : RunningMeans or None
        In `fit` those that `BaseLogger` keeps, which is told of each batch before; None: its own.

    Notes
    -----
    While the epoch runs the figures are means so far; its last line has the figures of the epoch's
    logs, the same that `History` keeps.

    Raises
    ------
    ArgumentError
        There is no such count mode.
    """

    def __init__(
        self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None
    ) -> None:
        if count_mode not in COUNTED:
            raise ArgumentError(
                f"ProgbarLogger: no count_mode {count_mode!r}; expected 'samples' or 'steps'."
            )
        self.count_mode = count_mode
        self.stateful_metrics = frozenset(stateful_metrics or ())
        self.means: RunningMeans | None = None
        self.progbar: Progbar | None = None
        self._names: tuple[str, ...] = ()

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Start a new bar."""
        self._names = tuple(self.params.get("metrics", ()))
        self.progbar = Progbar(
            self.params.get(self.count_mode),
            verbose=self.params.get("verbose", 1),
            stateful_metrics=self.stateful_metrics,
            epoch=epoch + 1,
            epochs=self.params.get("epochs"),
            means=self.means,
        )

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Count one batch."""
        logs = {} if logs is None else logs
        if self.progbar is not None:
            count = logs.get("size", 1) if self.count_mode == "samples" else 1
            names = self._names if self.means is None else ()
            self.progbar.advance(count, [(name, logs[name]) for name in names if name in logs])

    def get_state(self) -> dict[str, Any]:
        """Return how far the epoch is, for a run that goes on from a backup."""
        if self.progbar is None:
            return {}
        own = self.progbar.means.get_state() if self.means is None else None
        return {"seen": self.progbar.seen, "means": own}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go to where an epoch was; between two epochs there is no bar to move."""
        if self.progbar is None or not state:
            return
        self.progbar.seen = state["seen"]
        if self.means is None and state["means"] is not None:
            self.progbar.means.set_state(state["means"])

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Show the final figures, validation among them."""
        logs = {} if logs is None else logs
        if self.progbar is not None:
            self.progbar.finish({name: logs[name] for name in self._names if name in logs})

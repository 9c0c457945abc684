"""The progress of training, as data for a progress bar and as plain lines of text.

`ProgbarLogger` counts for `fit`, and `Progbar` for `evaluate`, `predict` and your own loops. Both
make `Progress` objects and pass them to `display` as "progress". In a terminal, `viz.progress`
draws them as a bar. Otherwise, and with `verbose=2`, each epoch is written as two lines. The lines
contain no times, so that the same run writes the same text.
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
    """The progress of a run at one moment, ready to be drawn.

    Attributes
    ----------
    moment : {"started", "running", "finished"}
        "started" occurs once, before the first batch. "finished" occurs once, with the final logs.
    seen : int
        The number of samples or steps so far.
    target : int or None
        The total number of samples or steps, or None if it is unknown.
    logs : mapping of str to float
        The mean of each loss and metric so far. The mapping is not changed later.
    epoch, epochs : int or None
        The number of the epoch, from 1, and of the last epoch. None outside training.
    width : int
        The width of the bar in terminal columns.
    interval : float
        The minimum time between two redraws, in seconds.

    Examples
    --------
    >>> progress = Progress("running", 32, 50, {"loss": 0.5}, epoch=1, epochs=10)
    >>> progress.title, progress.count, progress.figures
    ('Epoch 1/10', '32/50', ['loss: 0.5000'])
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
        """The title "Epoch 1/10", or None outside training."""
        return None if self.epoch is None else f"Epoch {self.epoch}/{self.epochs}"

    @property
    def count(self) -> str:
        """The count of samples or steps: "32/50"."""
        if self.target is None:
            return str(self.seen)
        return f"{self.seen:>{len(str(self.target))}}/{self.target}"

    @property
    def figures(self) -> list[str]:
        """The mean of each loss and metric as text: "loss: 7.6246"."""
        return [f"{printable(name)}: {written(value)}" for name, value in self.logs.items()]


def written(value: Any) -> str:
    """Format a number with four decimals. Numbers up to 0.001 get an exponent.

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
    """Arrange items in rows of at most `width` terminal columns. Items are not split.

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
    """Print a line when an epoch starts, and one when it is finished.

    In a narrow terminal the second line is wrapped.

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
        import shutil  # imported here, because its archive modules are slow to import

        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        rows = in_rows([progress.count, *progress.figures], width, len(" - "), len)
        print("\n".join(" - ".join(row) for row in rows), flush=True)


class Progbar:
    """A progress bar, which counts up to a target.

    Parameters
    ----------
    target : int or None
        The total number of samples or steps, or None if it is unknown.
    width : int
        The width of the bar in terminal columns.
    verbose : {0, 1, 2}
        0 silent, 1 a bar (plain lines without a terminal), 2 plain lines.
    interval : float
        The minimum time between two redraws, in seconds.
    stateful_metrics : iterable of str, optional
        The names of metrics whose last value is shown instead of their mean.
    epoch, epochs : int, optional
        The number of the epoch, from 1, and of the last epoch.
    means : RunningMeans, optional
        Means that another object computes. Then `update` and `add` need no values. By default the
        bar computes its own.

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
        """The names of metrics that are not averaged."""
        return self._means.stateful_metrics

    @property
    def means(self) -> RunningMeans:
        """The means of the values that the bar shows, over the steps so far."""
        return self._means

    def update(self, current: int, values: Values = None) -> None:
        """Show that `current` samples or steps are done. At the target, finish.

        Parameters
        ----------
        current : int
            The number of samples or steps so far.
        values : list of (str, float), optional
            Values for the samples or steps since the last update, whose number is their weight.
        """
        self.add(current - self.seen, values)

    def add(self, n: int, values: Values = None) -> None:
        """Move forward by `n` samples or steps. At the target, finish."""
        self.advance(n, values)
        if self.target is not None and self.seen >= self.target:
            self.finish()

    def advance(self, n: int, values: Values = None) -> None:
        """Move forward by `n` samples or steps, without finishing. The caller calls `finish`."""
        self.seen += n
        if not self.verbose:
            return
        for name, value in values or ():
            self._means.add(name, value, n)
        if self._needs_redraw() and (self.target is None or self.seen < self.target):
            self._show("running", self._means.results())

    def finish(self, final: Mapping[str, Any] | None = None) -> None:
        """Show the bar as finished. Values in `final` replace the means so far.

        Further calls have no effect.
        """
        if self.finished:
            return
        self.finished = True
        self._show("finished", {**self._means.results(), **(final or {})})

    def _needs_redraw(self) -> bool:
        """Return whether to redraw now, between the start and the end.

        Plain lines are not redrawn. A registered bar may have a function `is_due(interval)`, which
        decides. Without this function, the bar is redrawn at each update.
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
    """Return the function that draws a `Progress`; with `verbose` 0, it draws nothing."""
    if verbose == 0:
        return lambda progress: None
    return display.renderer("progress", progress_lines) if verbose == 1 else progress_lines


@registry.register
class ProgbarLogger(Callback):
    """Shows the progress of each epoch. `fit` adds it unless `verbose=0`.

    Parameters
    ----------
    count_mode : {"samples", "steps"}
        Whether samples or steps are counted.
    stateful_metrics : iterable of str, optional
        The names of metrics that are not averaged. Their last value is shown.

    Attributes
    ----------
    means : RunningMeans or None
        In `fit`, the means of `BaseLogger`, which is called before. With None, the bar computes its
        own means.

    Notes
    -----
    During an epoch, the means so far are shown. At its end, the logs of the epoch are shown, as
    `History` stores them.

    Raises
    ------
    ArgumentError
        `count_mode` is not valid.

    Examples
    --------
    With `verbose=2`, each epoch is written as two lines:

    >>> logger = ProgbarLogger()
    >>> logger.set_params({"samples": 32, "epochs": 5, "metrics": ["loss"], "verbose": 2})
    >>> logger.on_epoch_begin(0)
    Epoch 1/5
    >>> logger.on_batch_end(0, {"size": 32, "loss": 0.5})
    >>> logger.on_epoch_end(0, {"loss": 0.5})
    32/32 - loss: 0.5000
    """

    def __init__(
        self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None
    ) -> None:
        if count_mode not in COUNTED:
            raise ArgumentError(
                f"ProgbarLogger: expected count_mode 'samples' or 'steps', got {count_mode!r}."
            )
        self.count_mode = count_mode
        self.stateful_metrics = frozenset(stateful_metrics or ())
        self.means: RunningMeans | None = None
        self.progbar: Progbar | None = None
        self._names: tuple[str, ...] = ()

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Start a new progress bar for the epoch."""
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
        """Return the progress of the epoch, for a backup."""
        if self.progbar is None:
            return {}
        own = self.progbar.means.get_state() if self.means is None else None
        return {"seen": self.progbar.seen, "means": own}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore the progress of an epoch. Between two epochs this has no effect."""
        if self.progbar is None or not state:
            return
        self.progbar.seen = state["seen"]
        if self.means is None and state["means"] is not None:
            self.progbar.means.set_state(state["means"])

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Show the logs of the epoch, including those of the validation."""
        logs = {} if logs is None else logs
        if self.progbar is not None:
            self.progbar.finish({name: logs[name] for name in self._names if name in logs})

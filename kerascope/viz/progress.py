"""The progress bar of a terminal, drawn with rich.

`show_progress` is registered in `display` for "progress"; `fit`, `evaluate` and `predict` call it
with `Progress` objects. In a pipe, a file or a notebook it prints plain lines instead. Keras draws
its bar in `utils.generic_utils`.

The bar is one line that is redrawn in place, without a thread or a live display. If training fails
or prints in the middle of an epoch, the terminal stays intact.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from kerascope.callbacks.progress import Progress, in_rows, progress_lines

START_OF_LINE = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
BAR_CHARACTERS = ("━", "─")
ASCII_BAR_CHARACTERS = ("=", ".")
SHORTEST_INTERVAL = 0.1
GAP = 2
SHORTEST_BAR = 10
FIGURES_WIDTH = 50


class TerminalProgress:
    """Draws `Progress` objects, one after the other, on a console.

    Parameters
    ----------
    console : rich.console.Console, optional
        By default, a new one on `sys.stdout` for every bar.
    clock : callable
        Returns seconds; tests replace it.
    """

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._given_console = console
        self._clock = clock
        self._console: Console | None = None
        self._started = self._drawn = clock()
        self._line_is_open = False

    def __call__(self, progress: Progress) -> None:
        """Draw the title if the progress starts, its bar if it runs, its last line if it has ended.

        The bar is drawn at most ten times a second.
        """
        if progress.moment == "started":
            self._start(progress)
            return
        if progress.moment == "running" and not self.is_due(progress.interval):
            return
        now = self._clock()
        if progress.moment == "finished":
            console = self._open_console()
            self._draw(_last_lines(progress, now - self._started, console))
            self.end_line()
            return
        self._drawn = now
        console = self._open_console()
        self._draw(_running_line(progress, now - self._started, console))

    def is_due(self, interval: float) -> bool:
        """Return whether `interval` seconds (at least 0.1) have passed since the last drawing."""
        return self._clock() - self._drawn >= max(interval, SHORTEST_INTERVAL)

    def end_line(self) -> None:
        """Start a new line if a bar is on the current one."""
        if self._line_is_open:
            self._open_console().print()
        self._line_is_open = False

    def _start(self, progress: Progress) -> None:
        self.end_line()
        self._console = self._given_console or Console(file=sys.stdout, highlight=False)
        self._started = self._drawn = self._clock()
        if progress.title is not None:
            self._console.print(Text(progress.title, style="bold"))

    def _open_console(self) -> Console:
        if self._console is None:
            self._console = self._given_console or Console(file=sys.stdout, highlight=False)
        return self._console

    def _draw(self, line: Text) -> None:
        console = self._open_console()
        console.control(START_OF_LINE)
        console.print(line, end="", soft_wrap=True)
        console.file.flush()
        self._line_is_open = True


def bar(progress: Progress, *, ascii_only: bool = False) -> Text:
    """Return the bar without the text next to it; empty if the number of steps is unknown.

    Examples
    --------
    >>> str(bar(Progress("running", 3, 6, width=8)))
    '━━━━────'
    """
    if progress.target is None:
        return Text()
    done, rest = ASCII_BAR_CHARACTERS if ascii_only else BAR_CHARACTERS
    share = min(progress.seen / progress.target, 1.0) if progress.target else 1.0
    filled = int(progress.width * share)
    color = "green" if progress.moment == "finished" else "cyan"
    return Text.assemble((done * filled, color), (rest * (progress.width - filled), "dim"))


def _running_line(progress: Progress, seconds: float, console: Console) -> Text:
    """Return the line of a running bar. Loss and metrics that do not fit are left out."""
    more = " ..." if console.options.ascii_only else " …"
    rows = _rows(progress, _remaining(progress, seconds), console, len(more))
    line = rows[0].append(more) if len(rows) > 1 else rows[0]
    line.truncate(console.width - 1, overflow="crop" if console.options.ascii_only else "ellipsis")
    return line


def _last_lines(progress: Progress, seconds: float, console: Console) -> Text:
    """Return the final line with loss and metrics, continued on further lines if needed."""
    return Text("\n").join(_rows(progress, duration(seconds), console))


def _rows(progress: Progress, time_words: str, console: Console, reserved: int = 0) -> list[Text]:
    """Return lines with the count of steps, the bar, the time, the loss and the metrics."""
    columns = min(progress.width, max(SHORTEST_BAR, console.width - FIGURES_WIDTH))
    picture = bar(replace(progress, width=columns), ascii_only=console.options.ascii_only)
    time_text = Text(time_words, style="dim")
    parts = [Text(progress.count), picture, time_text, *map(_figure, progress.figures)]
    width = console.width - 1 - reserved
    rows = in_rows([part for part in parts if part], width, GAP, lambda part: part.cell_len)
    return [Text(" " * GAP).join(row) for row in rows]


def _figure(figure: str) -> Text:
    name, _, value = figure.partition(": ")
    return Text.assemble((f"{name} ", "dim"), value)


def _remaining(progress: Progress, seconds: float) -> str:
    """Return the estimated remaining time, or the elapsed time if it cannot be estimated."""
    if not progress.target or not progress.seen:
        return duration(seconds)
    return f"{duration(seconds * (progress.target - progress.seen) / progress.seen)} left"


def duration(seconds: float) -> str:
    """Return a duration as text: milliseconds, seconds, or h:mm:ss.

    Examples
    --------
    >>> duration(0.0123), duration(2.5), duration(75), duration(3700)
    ('12ms', '2.5s', '1:15', '1:01:40')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


_terminal = TerminalProgress()


def _is_due(interval: float) -> bool:
    return sys.stdout.isatty() and _terminal.is_due(interval)


def show_progress(progress: Progress) -> None:
    """Draw progress as a bar in a terminal, and as plain lines elsewhere.

    `display.register("progress", show_progress)` installs it.
    """
    draw = _terminal if sys.stdout.isatty() else progress_lines
    draw(progress)


# `fit` calls this first, so that it computes no figures for a bar that is not drawn.
setattr(show_progress, "is_due", _is_due)  # noqa: B010


def end_line() -> None:
    """Start a new line if a bar is on the current one. Call it before printing anything else."""
    _terminal.end_line()


def show_message(text: str) -> None:
    """Print a callback's message on a separate line, below a progress bar.

    `display.register("message", show_message)` installs it.
    """
    end_line()
    print(text, flush=True)

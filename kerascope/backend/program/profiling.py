"""Where the time and the memory of a function go: its program, measured line by line.

What is measured is the program itself, on real arrays, call after call. Before each call the
variables get back the values that they had, so every call computes the same numbers, a profile
trains nothing, and random numbers are drawn as if nothing had happened. The time of a line is the
median over all calls, less what the clock itself takes.

Nothing is printed here; `viz.profile` makes tables and pictures of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope.backend.at_once import set_values
from kerascope.backend.graph import Variable
from kerascope.backend.locks import LOCKS
from kerascope.backend.program.instrumented import (
    Clock,
    cost_of,
    differences,
    with_clock,
    without_calls,
)
from kerascope.backend.program.profiling_lines import MeasuredLine, lines_of
from kerascope.backend.program.program import Program
from kerascope.backend.program.source import Source
from kerascope.backend.subnormals import flushed
from kerascope.errors import ArgumentError

if TYPE_CHECKING:
    from kerascope.backend.function import Function

FEWEST, MOST = 5, 1000  # calls, if nobody says how many
NANO = 1e-9
# What a line may raise that needs a result which the copy without calls has not computed.
NOT_COMPUTED = (AttributeError, TypeError, ValueError)


@dataclass(frozen=True)
class Measured:
    """What a function's calls cost.

    Attributes
    ----------
    name : str
        Of the function.
    lines : tuple of MeasuredLine
        In the order of the program.
    calls : int
        How many were measured.
    whole : float
        Seconds of a call that no clock interrupts: the median.
    python : float or None
        Seconds that Python takes to go from line to line, of the whole; None if not known.
    inputs : tuple of tuple of int
        The shapes of the input arrays.
    are_made_up : bool
        Whether the numbers in them were: nobody gave any.
    planned : int
        Bytes of the memory that is planned once for all calls.
    """

    name: str
    lines: tuple[MeasuredLine, ...]
    calls: int
    whole: float
    python: float | None
    inputs: tuple[tuple[int, ...], ...]
    are_made_up: bool
    planned: int

    @property
    def seconds(self) -> float:
        """The time of all lines."""
        return sum(line.seconds for line in self.lines)

    @property
    def needed(self) -> int:
        """Bytes of all results: what would be planned if nothing were used again."""
        return sum(line.n_bytes for line in self.lines)


def measure(
    function: Function,
    inputs: Sequence[Any] | None = None,
    *,
    repeats: int | None = None,
    seconds: float = 1.0,
    clock: Clock = perf_counter_ns,
) -> Measured:
    """Measure the calls of a function; its variables are afterwards what they were.

    Parameters
    ----------
    function : Function
    inputs : list of array_like, optional
        As for a call; otherwise arrays of the shapes that came last, with made-up numbers.
    repeats : int, optional
        How many calls; by default as many as fit into `seconds`, from 5 to 1,000.
    seconds : float
    clock : callable
        Returns nanoseconds.

    Raises
    ------
    ArgumentError
        There are no inputs and the function was not called yet; or there can be no program.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, w = K.placeholder((2, 3)), K.variable([1.0])
    >>> f = K.function([x], [K.sum(K.exp(x))], updates=[(w, 2 * w)])
    >>> measured = measure(f, [np.ones((2, 3))], repeats=3)
    >>> [line.op for line in measured.lines], K.get_value(w).tolist()
    (['exp', 'sum', 'multiply', 'return', 'commit'], [1.0])
    """
    if repeats is not None and (not isinstance(repeats, int) or repeats < 1):
        raise ArgumentError(f"profile: repeats is no number of calls, 1 or more; got {repeats!r}.")
    are_made_up = inputs is None
    if inputs is None:
        inputs = made_up_inputs(_last_program(function))
    arrays = function._arrays(inputs)
    with np.errstate(all="ignore"):  # as in a call
        return flushed(lambda: _measured(function, arrays, are_made_up, repeats, seconds, clock))


def _measured(
    function: Function,
    arrays: Sequence[np.ndarray],
    are_made_up: bool,
    repeats: int | None,
    seconds: float,
    clock: Clock,
) -> Measured:
    with LOCKS.steps, _all_put_back(function) as put_back, _silently(function):
        program = _program_for(function, arrays, put_back)
        program(arrays)  # settles its variables; from here on it stays as it is written
        draft = program.draft()

        def begin_again() -> None:
            put_back()
            program.begin()

        begin_again()
        times = _Times(draft.source, arrays, begin_again, clock)
        fitting = times.calls_in(seconds)  # also warms up
        calls = repeats or fitting
        for _ in range(calls):
            times.measure()
    return Measured(
        name=function.name,
        lines=tuple(lines_of(draft, times.of_statements())),
        calls=calls,
        whole=times.whole(),
        python=times.python(),
        inputs=tuple(array.shape for array in arrays),
        are_made_up=are_made_up,
        planned=program.n_bytes,
    )


def made_up_inputs(program: Program) -> list[np.ndarray]:
    """Return arrays as a program expects them: numbers from 0 to 1, and 0 where they are whole."""
    rng = np.random.default_rng(0)
    trial = program.trial
    arrays = []
    for slot, spec in enumerate(trial.specs):
        if slot in trial.numbers:  # it decides about branches, or is known to be ones
            arrays.append(trial.numbers[slot])
        elif spec.dtype.kind == "f":
            arrays.append(rng.random(spec.shape).astype(spec.dtype))
        else:
            arrays.append(np.zeros(spec.shape, spec.dtype))
    return arrays


# --- the program ----------------------------------------------------------------------------------


def _last_program(function: Function) -> Program:
    if not function.programs:
        raise ArgumentError(
            f"{function.name}: there is nothing to profile yet. Call it twice first, or say on "
            f"what: function.profile([x, y]), one array for each of {function.inputs}."
        )
    return function.programs[-1]


def _program_for(
    function: Function, arrays: Sequence[np.ndarray], put_back: Callable[[], None]
) -> Program:
    """Return the program for such arrays; if there is none yet, calls make it."""
    for _ in range(4):
        program = function._programs.program_for(arrays)
        if program is not None:
            return program
        function._programs(arrays)
        put_back()
    raise ArgumentError(
        f"{function.name}: there is no program to profile: with {len(function.schedule.steps):,} "
        f"ops it is too long to be written down."
    )


@contextmanager
def _all_put_back(function: Function) -> Iterator[Callable[[], None]]:
    """Give what puts back all that a call writes, and do it at the end."""
    kept: list[tuple[Variable, np.ndarray]] = [
        (update.variable, update.variable.get_value()) for update in function.updates
    ]

    def put_back() -> None:
        set_values(kept)

    try:
        yield put_back
    finally:
        put_back()


@contextmanager
def _silently(function: Function) -> Iterator[None]:
    """Swallow what ops print, if there are such: a thousand calls would say it a thousand times."""
    if all(step.apply.op.is_pure for step in function.schedule.steps):
        yield
        return
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


# --- the clock ------------------------------------------------------------------------------------


class _Times:
    """Calls a program in three forms in turn, and keeps what each call took."""

    def __init__(
        self,
        source: Source,
        arrays: Sequence[np.ndarray],
        put_back: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._arrays = arrays
        self._put_back = put_back
        self._clock = clock
        self._cost = cost_of(clock)
        self._measured = with_clock(source, clock)
        self._plain = source.scope[source.name]
        self._idle: Callable[..., Any] | None = without_calls(source)
        self._of_statements: list[list[int]] = []
        self._wholes: list[int] = []
        self._idles: list[int] = []

    def calls_in(self, seconds: float) -> int:
        """Return how many calls fit into some seconds."""
        self.measure()
        took = (2 * self._wholes.pop() + sum(self._idles)) * NANO
        self._of_statements.clear()
        self._idles.clear()
        return int(min(max(seconds / max(took, 1e-9), FEWEST), MOST))

    def measure(self) -> None:
        """Call each form once."""
        self._of_statements.append(differences(self._measured(*self._arrays)))
        self._put_back()
        self._wholes.append(self._time_of(self._plain))
        self._put_back()
        if self._idle is not None:
            try:
                self._idles.append(self._time_of(self._idle))
            except NOT_COMPUTED:
                self._idle = None

    def _time_of(self, run: Callable[..., Any]) -> int:
        start = self._clock()
        run(*self._arrays)
        return self._clock() - start

    def of_statements(self) -> list[float]:
        """Return the median time of each statement in seconds."""
        several = zip(*self._of_statements, strict=True)
        return [max(median(times) - self._cost, 0) * NANO for times in several]

    def whole(self) -> float:
        """Return the median time of a call that nothing interrupts."""
        return max(median(self._wholes) - self._cost, 0) * NANO

    def python(self) -> float | None:
        """Return the median time of the lines without what they call."""
        if self._idle is None or not self._idles:
            return None
        return min(max(median(self._idles) - self._cost, 0) * NANO, self.whole())


__all__ = ["Measured", "MeasuredLine", "made_up_inputs", "measure"]

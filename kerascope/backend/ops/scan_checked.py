"""A loop beside its interpreter: each step is computed a second time, op by op, and compared.

Both roads of a function take the same written loop, so comparing the roads with each other does not
show a fault of it. Inside `checked_loops()`
(`backend/loop_checks.py`) every loop is checked by itself: each step is
interpreted on what that step was given, the states that the loop has kept included. So roundings do
not grow from step to step, and the first step that is wrong is known.

Where the loop computes the same sums and products in the same order, every bit has to agree. The
rules of `loop_rules.py` change the order: then a number may differ by `ROUNDINGS` units in the last
place of the largest number beside it, or, where numbers are nearly cancelled or compared, by
`SHAKES` times what the step itself moves when what it is given changes in the last place. Where it
is infinite or not a number has to agree in the same sense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.bits import are_same
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.ops.scan_run import perform_step
from kerascope.errors import VerificationError

ROUNDINGS = 32
SHAKES = 16
N_SHAKES = 4

Compute = Callable[[InnerGraph, Sequence[Any]], list[Any]]


class Difference(Exception):
    """A result of a loop that is not what its step computes.

    Attributes
    ----------
    tensor : Tensor
        Inside the graph of the step.
    where : str
    got, wanted : array
    """

    def __init__(self, tensor: Tensor, where: str, got: Any, wanted: Any) -> None:
        super().__init__(tensor, where)
        self.tensor = tensor
        self.where = where
        self.got = np.array(got)
        self.wanted = np.array(wanted)


def check_loop(
    inner: InnerGraph,
    arrays: Sequence[Any],
    results: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
    compute: Compute,
) -> None:
    """Compare what a written loop has computed with what its interpreter computes.

    Parameters
    ----------
    inner : InnerGraph
        One step.
    arrays : sequence of array
        What the loop was given.
    results : sequence of array
        All that it gave.
    backwards : bool
    is_exact : callable
        Tells whether the loop has every sum and product as it stands in the graph.
    compute : callable
        Writes and performs another loop: asked, after a difference, for what all ops inside give.

    Raises
    ------
    VerificationError
        They differ.
    """
    try:
        _compare(inner, arrays, results, backwards, is_exact)
    except Difference as found:
        first = _first_inside(inner, arrays, backwards, is_exact, compute, found)
        raise _error(inner, first) from None


def _first_inside(
    inner: InnerGraph,
    arrays: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
    compute: Compute,
    found: Difference,
) -> Difference:
    """Return the difference at the first op inside, if the loop still differs when all are kept."""
    everything = tuple(y for apply in inner.applies for y in apply.outputs)
    whole = InnerGraph(
        inner.sequences, inner.states, inner.others, inner.results._replace(outputs=everything)
    )
    try:
        _compare(whole, arrays, compute(whole, arrays), backwards, is_exact)
    except Difference as first:
        return first
    except Exception:  # the larger loop cannot be written: the result that differs is known
        return found
    return found


def _error(inner: InnerGraph, found: Difference) -> VerificationError:
    maker = found.tensor.owner
    op = "" if maker is None else f" = {maker!r}"
    return VerificationError(
        f"the written loop over {_names(inner)} and its interpreter differ in "
        f"'{found.tensor.name}'{op}, {found.where}: the loop has {_shortly(found.got)}, "
        f"its interpreter {_shortly(found.wanted)}. No variable was changed. Please report this, "
        f"with the arrays.",
        step=maker,
        got=found.got,
        expected=found.wanted,
    )


def failed(inner: InnerGraph, failure: Exception) -> VerificationError:
    """Return the error that a written loop raises where its interpreter does not."""
    return VerificationError(
        f"the written loop over {_names(inner)} fails where its interpreter does not "
        f"({type(failure).__name__}: {failure}). No variable was changed. Please report this, "
        f"with the arrays."
    )


def _names(inner: InnerGraph) -> str:
    return ", ".join(f"'{x.name}'" for x in inner.sequences)


def _shortly(array: np.ndarray) -> str:
    return np.array2string(array, threshold=8, edgeitems=2).replace("\n", "")


# --- one step after another -----------------------------------------------------------------------


def _compare(
    inner: InnerGraph,
    arrays: Sequence[Any],
    results: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
) -> None:
    """Raise the first difference between a loop and its steps."""
    n, m = len(inner.sequences), len(inner.sequences) + len(inner.states)
    n_outputs, n_states = len(inner.results.outputs), len(inner.states)
    sequences = arrays[:n]  # as they lie in memory: NumPy's order of adding up depends on it
    outputs, histories = results[:n_outputs], results[n_outputs:][:n_states]
    last = results[n_outputs + n_states :][:n_states]
    n_steps = len(sequences[0])
    order = range(n_steps)[::-1] if backwards else range(n_steps)
    for x, first, history in zip(inner.states, arrays[n:m], histories, strict=True):
        if not are_same(history[order[0]], first):
            raise Difference(x, f"before step {order[0]}", history[order[0]], first)
    tensors = [*inner.results.outputs, *inner.results.new_states]
    starts = []
    sums: list[Any] = []
    for step, following in zip(order, [*order[1:], None], strict=True):
        start = [*(x[step] for x in sequences), *(x[step] for x in histories), *arrays[m:]]
        starts.append(start)
        wanted = _stepped(inner, start)
        after = last if following is None else [history[following] for history in histories]
        got = [*(y[step] for y in outputs), *after]
        judge = _Judge(inner, [start], f"in step {step} of {n_steps}", is_exact)
        for number, (tensor, array) in enumerate(zip(tensors, got, strict=True)):
            judge(number, tensor, array, wanted[number])
        sums = _added(sums, wanted[len(got) :])
    judge = _Judge(inner, starts, f"in the sum over {n_steps} steps", is_exact)
    given = results[n_outputs + 2 * n_states :]
    for number, (tensor, array) in enumerate(zip(inner.results.terms, given, strict=True)):
        judge(len(tensors) + number, tensor, array, sums[number])


def _stepped(inner: InnerGraph, start: Sequence[Any]) -> list[Any]:
    values = inner.schedule.start(start)
    return perform_step(inner, values)


def _added(sums: list[Any], terms: Sequence[Any]) -> list[Any]:
    """Add up terms as the interpreter does."""
    if not sums:
        return [np.array(term) for term in terms]
    for total, term in zip(sums, terms, strict=True):
        np.add(total, term, out=total)
    return sums


class _Judge:
    """Tells whether a result may be another one than the interpreter's.

    Parameters
    ----------
    inner : InnerGraph
    starts : list
        What the steps were given that the result comes from: several if it is their sum.
    where : str
    is_exact : callable
    """

    def __init__(
        self,
        inner: InnerGraph,
        starts: Sequence[Sequence[Any]],
        where: str,
        is_exact: Callable[[], bool],
    ) -> None:
        self.inner = inner
        self.starts = starts
        self.where = where
        self.is_exact = is_exact

    def __call__(self, number: int, tensor: Tensor, got: Any, wanted: Any) -> None:
        """Raise a Difference if result `number` of the step is wrong."""
        if are_same(got, wanted):
            return
        x, y = np.asarray(got), np.asarray(wanted)
        is_near = (
            x.dtype == y.dtype
            and x.shape == y.shape
            and not self.is_exact()
            and (_are_near(x, y) or self._is_shaky(number, x, y))
        )
        if not is_near:
            raise Difference(tensor, self.where, got, wanted)

    def _is_shaky(self, number: int, got: np.ndarray, wanted: np.ndarray) -> bool:
        """Tell whether roundings of what the steps are given explain a difference."""
        moved = np.zeros(wanted.shape)
        is_free = np.zeros(wanted.shape, bool)
        for seed in range(N_SHAKES):
            rng = np.random.default_rng(seed)
            sums: list[Any] = []
            for start in self.starts:
                result = _stepped(self.inner, [_shaken(x, rng) for x in start])[number]
                sums = _added(sums, [result])
            other = np.asarray(sums[0])
            is_free |= ~_is_alike(other, wanted)
            moved = np.fmax(moved, _distance(other, wanted))
        allowed = SHAKES * moved + _rounding(wanted)
        return bool(
            (is_free | (_is_alike(got, wanted) & (_distance(got, wanted) <= allowed))).all()
        )


def _are_near(got: np.ndarray, wanted: np.ndarray) -> bool:
    is_alike = _is_alike(got, wanted)
    return bool((is_alike & (_distance(got, wanted) <= _rounding(wanted))).all())


def _is_alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tell where both are finite, both NaN, or the same infinity."""
    if x.dtype.kind != "f":
        return np.ones(x.shape, bool)
    both: np.ndarray = (np.isfinite(x) & np.isfinite(y)) | (np.isnan(x) & np.isnan(y)) | (x == y)
    return both


def _distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how far numbers are from each other; 0 where one is not finite."""
    one, other = x.astype("float64"), y.astype("float64")
    is_finite = np.isfinite(one) & np.isfinite(other)
    difference: np.ndarray = np.abs(np.where(is_finite, one, 0) - np.where(is_finite, other, 0))
    return difference


def _rounding(array: np.ndarray) -> float:
    """Return what reordered sums and products may cost."""
    if array.dtype.kind != "f" or not array.size:
        return 0.0
    largest = float(np.abs(np.where(np.isfinite(array), array, 0)).max())
    unit = np.finfo(array.dtype)
    return ROUNDINGS * (float(unit.eps) * largest + float(unit.tiny))


def _shaken(x: Any, rng: np.random.Generator) -> Any:
    """Return numbers that differ in their last place."""
    array = np.asarray(x)
    if array.dtype.kind != "f":
        return x
    signs = rng.choice([-1.0, 1.0], array.shape)
    shaken: np.ndarray = array * (1 + signs * np.finfo(array.dtype).eps).astype(array.dtype)
    return shaken

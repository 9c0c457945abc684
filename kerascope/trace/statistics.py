"""Statistics of arrays: dtype and shape, norm, minimum, mean and maximum.

`f32[32,64] |x|=12.3 min=0 mean=0.41 max=2.9` says more than the first nine values. All figures are
computed in float64 and rounded to three or four digits, so a transcript is the same on every
machine.

The module first defines the `Statistics` of one array, and then computes those of many small arrays
together. For a small array the calls of NumPy cost more than the arithmetic. So the arrays of one
function call are collected, and one `reduceat` computes, for example, the minimum of each. The
`Statistics` objects are made immediately. Their fields are computed when the function call ends, or
when one of the fields is read. The arrays are released afterwards.

The last functions are for conditions and watches, for example whether a value contains NaN, or its
norm. The value may be an array, a number, a container of these, or the `Statistics` that replaced
an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

FEW = 32
TINY = 1e-280  # the squares of smaller numbers may underflow to 0
LARGE = 2**14  # elements; larger arrays are processed in pieces
PIECE = 8192  # elements; BLAS starts threads for longer products, which takes time
ROUNDING = 1e-12  # relative; sums in different orders differ by less
NOISE = 1e-6  # relative to the largest element; smaller means are rounding error


class PendingStatistics:
    """Base of statistics whose fields are computed when one of them is first read.

    Attributes
    ----------
    source : object
        The object that computes the fields: `source.row(place)` returns all fields in order.
    place : int
        The index of the array in `source`.
    """

    __slots__ = ("place", "source")

    def __getattr__(self, name: str) -> Any:
        """Compute all fields on the first access of a field, and return that field."""
        fields = type(self).__slots__
        if name not in fields:
            raise AttributeError(f"{type(self).__name__}: expected a field, got {name!r}.")
        for field, value in zip(fields, self.source.row(self.place), strict=True):
            object.__setattr__(self, field, value)
        object.__delattr__(self, "source")
        return getattr(self, name)


@dataclass(frozen=True, slots=True, eq=False)
class Statistics(PendingStatistics):
    """The statistics of an array.

    Two `Statistics` are equal if the arrays may have the same values. The norm and the mean are
    sums in memory order, so those of an array and of its transposed view differ by rounding.

    Attributes
    ----------
    kind : str
        Dtype and shape: "f32[32,64]".
    norm, min, mean, max : float or None
        The Euclidean norm, minimum, mean and maximum of the finite elements; None if no element is
        finite.
    nans, infinities : int
        The numbers of NaN and of infinite elements.
    """

    kind: str
    norm: float | None
    min: float | None
    mean: float | None
    max: float | None
    nans: int = 0
    infinities: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistics):
            return NotImplemented
        if self._exact != other._exact:
            return False
        if self.norm is None or self.mean is None or other.norm is None or other.mean is None:
            return self.norm == other.norm and self.mean == other.mean
        return math.isclose(self.norm, other.norm, rel_tol=ROUNDING) and math.isclose(
            self.mean, other.mean, rel_tol=ROUNDING, abs_tol=ROUNDING * self.norm
        )

    def __hash__(self) -> int:
        return hash(self._exact)

    @property
    def _exact(self) -> tuple[Any, ...]:
        """The fields that do not depend on the order of summation, for comparisons."""
        return (self.kind, self.min, self.max, self.nans, self.infinities)

    @property
    def is_sound(self) -> bool:
        """Whether every element is a finite number."""
        return not self.nans and not self.infinities

    @property
    def cells(self) -> tuple[str, ...]:
        """The statistics as separate texts, for the columns of a table."""
        alarm = tuple(
            f"{count} {word}"
            for count, word in ((self.nans, "NaN!"), (self.infinities, "Inf!"))
            if count
        )
        if self.norm is None or self.min is None:
            return (self.kind, *alarm)
        if self.kind.endswith("[]"):
            return (self.kind, figure(self.mean))
        named = (("min", self.min), ("mean", self.mean), ("max", self.max))
        figures = tuple(f"{name}={figure(value, digits=3)}" for name, value in named)
        return (self.kind, *alarm, f"|x|={figure(self.norm)}", *figures)

    @property
    def short_cells(self) -> tuple[str, ...]:
        """The texts of `cells` without minimum, mean and maximum."""
        return tuple(cell for cell in self.cells if not cell.startswith(("min=", "mean=", "max=")))

    @property
    def facts(self) -> dict[str, Any]:
        """The statistics as a dict: dtype and shape, and the known numbers, rounded for display."""
        figures = {"norm": self.norm, "min": self.min, "mean": self.mean, "max": self.max}
        known = {name: float(figure(x)) for name, x in figures.items() if x is not None}
        counts = {"nans": self.nans, "infinities": self.infinities}
        return {"array": self.kind, **known, **{name: n for name, n in counts.items() if n}}

    def __str__(self) -> str:
        return " ".join(self.cells)


def statistics_of(array: Any) -> Statistics:
    """Return the statistics of an array.

    Examples
    --------
    >>> print(statistics_of(np.array([[3.0, 4.0], [0.0, 0.0]], "float32")))
    f32[2,2] |x|=5 min=0 mean=1.75 max=4
    >>> print(statistics_of(np.array([1.0, np.nan])))
    f64[2] 1 NaN! |x|=1 min=1 mean=1 max=1
    >>> print(statistics_of(np.float32(0.5)))
    f32[] 0.5
    """
    return Statistics(*_figures_of(np.asarray(array)))


def _figures_of(array: np.ndarray) -> tuple[Any, ...]:
    """Return the fields of `Statistics` for an array, as a tuple."""
    kind = kind_of_shape(array.dtype, array.shape)
    if array.size > LARGE:
        return _figures_in_pieces(kind, array)
    values = array.astype(np.float64).ravel(order="K")  # in memory order, which no field needs
    squares = sum_of_squares(values)  # if it is finite, every number is
    if TINY < squares < math.inf:
        # For a few values Python's min and max are faster than NumPy's.
        few = values.tolist() if values.size <= FEW else None
        low, high = (min(few), max(few)) if few else (float(values.min()), float(values.max()))
        mean = without_noise(float(np.add.reduce(values)) / values.size, max(-low, high))
        return (kind, math.sqrt(squares), low, mean, high, 0, 0)
    return figures_with_care(kind, values)


def _figures_in_pieces(kind: str, array: np.ndarray) -> tuple[Any, ...]:
    """Return the fields of `Statistics` for a large array, read in pieces that fit the cache."""
    flat = array.ravel(order="K")
    squares = total = 0.0
    low, high = math.inf, -math.inf
    for first in range(0, flat.size, LARGE):
        values = flat[first : first + LARGE].astype(np.float64)
        squares += sum_of_squares(values)
        if not squares < math.inf:
            break
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        total += float(np.add.reduce(values))
    if not TINY < squares < math.inf:
        return figures_with_care(kind, flat.astype(np.float64))
    return (
        kind,
        math.sqrt(squares),
        low,
        without_noise(total / flat.size, max(-low, high)),
        high,
        0,
        0,
    )


def figures_with_care(kind: str, values: np.ndarray) -> tuple[Any, ...]:
    """Return the fields of `Statistics` for any array, even with NaN, infinity or no element.

    The squares of very small or large values do not under- or overflow.
    """
    if not values.any() and values.size:
        return (kind, 0.0, 0.0, 0.0, 0.0, 0, 0)
    finite = values[np.isfinite(values)]
    nans = int(np.isnan(values).sum())
    infinities = values.size - finite.size - nans
    if not finite.size:
        return (kind, None, None, None, None, nans, infinities)
    mean = without_noise(float(finite.mean()), float(np.abs(finite).max()))
    smallest, greatest = float(finite.min()), float(finite.max())
    return (kind, norm_of(finite), smallest, mean, greatest, nans, infinities)


def sum_of_squares(array: np.ndarray) -> float:
    """Return the sum of squares of real numbers, without warnings.

    Examples
    --------
    >>> sum_of_squares(np.full((100, 100), 2.0)), sum_of_squares(np.array([1.0, np.nan]))
    (40000.0, nan)
    """
    if array.size <= PIECE:
        return float(np.vdot(array, array))
    values = array.reshape(-1)
    pieces = (values[first : first + PIECE] for first in range(0, values.size, PIECE))
    return sum(float(np.vdot(piece, piece)) for piece in pieces)


def without_noise(mean: float, largest: float) -> float:
    """Return a mean, but 0 if it may be a rounding error of elements as large as `largest`."""
    return 0.0 if abs(mean) < NOISE * largest else mean


def norm_of(array: Any) -> float:
    """Return the norm of an array. The array is scaled first if squares over- or underflow."""
    values = np.asarray(array, "float64").ravel()
    squares = sum_of_squares(values)
    if TINY < squares < math.inf:
        return math.sqrt(squares)
    largest = float(np.abs(values).max(initial=0.0))
    if not largest or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.square(values / largest).sum()))


def kind_of(array: Any) -> str:
    """Return dtype and shape of an array in a few letters.

    Examples
    --------
    >>> kind_of(np.zeros((2, 3))), kind_of(np.int32(1)), kind_of(np.array([True]))
    ('f64[2,3]', 'i32[]', 'bool[1]')
    """
    array = np.asarray(array)
    return kind_of_shape(array.dtype, array.shape)


@lru_cache(maxsize=1024)  # few kinds occur, and each text is stored once
def kind_of_shape(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    """Return dtype and shape in a few letters: "f32[2,3]"."""
    letter = "bool" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize * 8}"
    return f"{letter}[{','.join(map(str, shape))}]"


def figure(value: Any, digits: int = 4) -> str:
    """Return a number as text with a few significant digits.

    Examples
    --------
    >>> figure(0.123456), figure(12.0), figure(-0.0), figure(1e-9)
    ('0.1235', '12', '0', '1e-09')
    """
    return f"{float(value) + 0.0:.{digits}g}"


# --- many small arrays at once --------------------------------------------------------------------


MOST_ELEMENTS = 2**16  # in the arrays of one batch
_new = Statistics.__new__
_set_source = PendingStatistics.source.__set__  # type: ignore[attr-defined]
_set_place = PendingStatistics.place.__set__  # type: ignore[attr-defined]


class Batch:
    """Arrays whose statistics are computed together.

    Attributes
    ----------
    size : int
        The number of elements in these arrays.
    is_closed : bool
        Whether the statistics are computed and the arrays released.
    """

    __slots__ = ("_arrays", "_careful", "_figures", "_kinds", "is_closed", "size")

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._kinds: list[tuple[Any, tuple[int, ...]]] = []
        self._careful: dict[int, tuple[Any, ...]] = {}
        self._figures: tuple[np.ndarray, ...] = ()
        self.is_closed = False
        self.size = 0

    def take(self, array: np.ndarray) -> Statistics:
        """Add a non-empty array; return its `Statistics`, whose fields are computed later."""
        found = _new(Statistics)
        _set_source(found, self)
        _set_place(found, len(self._arrays))
        self._arrays.append(array)
        self.size += array.size
        return found

    def row(self, place: int) -> tuple[Any, ...]:
        """Return the fields of `Statistics` for the collected array at index `place`.

        Numbers are rounded to six digits.
        """
        if not self.is_closed:
            self.close()
        if place in self._careful:
            return _shortened(self._careful[place])
        squares, low, sum_, high = (float(column[place]) for column in self._figures)
        dtype, shape = self._kinds[place]
        mean = without_noise(sum_ / math.prod(shape), max(-low, high))
        return _shortened((kind_of_shape(dtype, shape), math.sqrt(squares), low, mean, high, 0, 0))

    def close(self) -> None:
        """Compute the statistics of all collected arrays, and release the arrays."""
        arrays = self._arrays
        self._kinds = [(array.dtype, array.shape) for array in arrays]
        ends = np.cumsum([array.size for array in arrays])
        starts = [0, *ends[:-1].tolist()]
        with np.errstate(all="ignore"):
            values = np.concatenate(arrays, axis=None, dtype=np.float64, casting="unsafe")
            squares = np.add.reduceat(values * values, starts)
            low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
            self._figures = (squares, low, np.add.reduceat(values, starts), high)
            # A finite sum of squares means that every number is finite.
            for i in np.flatnonzero(~((squares > TINY) & (squares < math.inf))).tolist():
                dtype, shape = self._kinds[i]
                own = values[starts[i] : ends[i]]
                self._careful[i] = figures_with_care(kind_of_shape(dtype, shape), own)
        self._arrays = []
        self.is_closed = True


class Figures:
    """Computes the statistics of arrays that do not change, and caches them by array.

    The same array may appear many times: as an op's result, a gradient, a new value and a weight.

    Attributes
    ----------
    may_wait : bool
        Whether the statistics may be computed later, because no array can change before `settle`
        is called.
    """

    def __init__(self) -> None:
        self.may_wait = False
        self._batch = Batch()
        self._known: dict[int, Statistics] = {}  # by the ids of arrays that are held until then
        self._held: list[np.ndarray] = []

    def of(self, array: np.ndarray) -> Statistics:
        """Return the statistics of an array. With `may_wait`, their fields are computed later."""
        if self._batch.is_closed:
            self._close()  # its arrays are released, so ids may be reused
        known = self._known.get(id(array))
        if known is not None:
            return known
        if not self.may_wait:
            return short_statistics_of(array)
        size = array.size
        batch = self._batch
        if batch.size + size > MOST_ELEMENTS or batch.is_closed:
            self._close()
            batch = self._batch
        if not 0 < size < MOST_ELEMENTS:
            return short_statistics_of(array)
        found = self._known[id(array)] = batch.take(array)
        return found

    def settle(self, kept: Iterable[np.ndarray] = ()) -> None:
        """Compute all statistics that are still missing, because arrays may change from now on.

        Parameters
        ----------
        kept : iterable of np.ndarray
            Arrays that will not change and whose statistics remain in the cache.
        """
        self.may_wait = False
        held = list(kept)
        known = {id(array): self._known[id(array)] for array in held if id(array) in self._known}
        self._close()
        self._known, self._held = known, held

    def _close(self) -> None:
        if self._batch.size and not self._batch.is_closed:
            self._batch.close()
        self._batch = Batch()
        self._known, self._held = {}, []


def short_statistics_of(array: np.ndarray) -> Statistics:
    """Return the statistics of one array, rounded to six digits.

    Examples
    --------
    >>> short_statistics_of(np.array([1.0, 2.0])).norm
    2.23607
    """
    if not array.size:
        return Statistics(*figures_with_care(kind_of(array), np.zeros(0)))
    batch = Batch()
    found = batch.take(array)
    batch.close()
    return found


def _shortened(facts: tuple[Any, ...]) -> tuple[Any, ...]:
    kind, *figures, nans, infinities = facts
    if figures[0] is None:
        return facts
    norm, low, mean, high = map(float, ("{:.6g} {:.6g} {:.6g} {:.6g}".format(*figures)).split())
    return (kind, norm, low, mean, high, nans, infinities)


# --- values of any kind ---------------------------------------------------------------------------


NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)
COLLECTIONS = (list, tuple, set, frozenset)


def parts(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in a value, also from inside containers.

    Examples
    --------
    >>> list(parts({"a": [1.0, "words"], "b": None}))
    [1.0]
    """
    if isinstance(value, np.ndarray | np.generic | Statistics | int | float | complex):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from parts(item)
    elif isinstance(value, COLLECTIONS):
        for item in value:
            yield from parts(item)


def count_nan(value: Any) -> int:
    """Return the number of NaN elements in a value.

    Examples
    --------
    >>> count_nan([np.array([1.0, np.nan]), float("nan"), None])
    2
    """
    if value.__class__ is np.ndarray and is_finite(value):
        return 0
    return sum(_count(part, np.isnan, "nans") for part in parts(value))


def count_inf(value: Any) -> int:
    """Return the number of infinite elements in a value."""
    if value.__class__ is np.ndarray and is_finite(value):
        return 0
    return sum(_count(part, np.isinf, "infinities") for part in parts(value))


def is_finite(array: np.ndarray) -> bool:
    """Return whether the sum of squares of an array is finite; True for integers and booleans.

    If True, all values are finite. If False, the values may still be finite, because their squares
    may overflow.
    """
    kind = array.dtype.kind
    return kind in "iub" or (kind == "f" and math.isfinite(sum_of_squares(array)))


def _count(part: Any, test: Any, field: str) -> int:
    if isinstance(part, Statistics):
        return int(getattr(part, field))
    if isinstance(part, int):
        return 0
    array = np.asarray(part)
    if is_finite(array):
        return 0
    return int(np.count_nonzero(test(array))) if array.dtype.kind in "fc" else 0


def has_nan(value: Any) -> bool:
    """Return whether a value contains a NaN. The value None contains no NaN.

    Examples
    --------
    >>> has_nan(np.array([1.0, np.nan])), has_nan(None)
    (True, False)
    """
    return count_nan(value) > 0


def norm(value: Any) -> float:
    """Return the norm of all numbers in a value; NaN if the value contains no numbers.

    A symbolic tensor contains no numbers. The conditions `norm(x) > a` and `norm(x) < a` are then
    false for any `a`, because NaN is neither greater nor less than any number.

    Examples
    --------
    >>> norm([np.array([3.0, 0.0]), 4.0]), norm(None)
    (5.0, nan)
    """
    norms = [_norm(part) for part in parts(value)] or [math.nan]
    return norms[0] if len(norms) == 1 else math.hypot(*norms)


def _norm(part: Any) -> float:
    if isinstance(part, Statistics):
        return math.nan if part.norm is None else part.norm
    array = np.asarray(part)
    return norm_of(np.abs(array) if array.dtype.kind == "c" else array)


def relative_change(old: Any, new: Any) -> float | None:
    """Return ‖new - old‖ / ‖old‖; None if the shapes differ or a value is not numeric.

    If the old value is 0 everywhere, the result is 1 for any change and 0 for no change.

    Examples
    --------
    >>> relative_change(np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    0.5
    >>> relative_change(0.0, 3.0), relative_change(0.0, 0.0), relative_change([1], [1, 2])
    (1.0, 0.0, None)
    """
    numbers = (np.ndarray, np.number, int, float)
    if not (isinstance(old, numbers) and isinstance(new, numbers)):
        return None
    if np.shape(old) != np.shape(new):
        return None
    before = norm_of(old)
    change = norm_of(np.subtract(new, old, dtype="float64"))
    return change / before if before else float(change > 0)

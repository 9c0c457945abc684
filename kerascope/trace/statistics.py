"""What a reader sees of an array: its type and shape, its size, and where its numbers lie.

`f32[32,64] |x|=12.3 min=0 mean=0.41 max=2.9` says more than the first nine numbers. All figures
are computed in float64 and rounded to three or four digits, so that a transcript is the same on
every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

FEW = 32
TINY = 1e-280  # the squares of smaller numbers may have vanished
PIECE = 8192  # elements; BLAS shares longer products out among threads, which take long to wake
NOISE = 1e-6  # a mean that is this small beside the largest element is rounding error


class Awaited:
    """Base of figures that are asked for when somebody reads them first.

    Attributes
    ----------
    source : object
        Who knows them: `source.row(place)` returns all fields in order.
    place : int
    """

    __slots__ = ("place", "source")

    def __getattr__(self, name: str) -> Any:
        """Return a field that is not set yet; all of them are set now."""
        fields = type(self).__slots__
        if name not in fields:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        for field, value in zip(fields, self.source.row(self.place), strict=True):
            object.__setattr__(self, field, value)
        object.__delattr__(self, "source")
        return getattr(self, name)


@dataclass(frozen=True, slots=True)
class Statistics(Awaited):
    """Figures of one array.

    Attributes
    ----------
    kind : str
        Type and shape: "f32[32,64]".
    norm, min, mean, max : float or None
        Over the finite elements; None where there are none.
    nans, infinities : int
        How many elements are no numbers.
    """

    kind: str
    norm: float | None
    min: float | None
    mean: float | None
    max: float | None
    nans: int = 0
    infinities: int = 0

    @property
    def is_sound(self) -> bool:
        """True if every element is a finite number."""
        return not self.nans and not self.infinities

    @property
    def cells(self) -> tuple[str, ...]:
        """The figures one by one, for a table."""
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
        """Type and shape, size, and what is wrong."""
        return tuple(cell for cell in self.cells if not cell.startswith(("min=", "mean=", "max=")))

    @property
    def facts(self) -> dict[str, Any]:
        """The figures as data, rounded like the text."""
        figures = {"norm": self.norm, "min": self.min, "mean": self.mean, "max": self.max}
        known = {name: float(figure(x)) for name, x in figures.items() if x is not None}
        counts = {"nans": self.nans, "infinities": self.infinities}
        return {"array": self.kind, **known, **{name: n for name, n in counts.items() if n}}

    def __str__(self) -> str:
        return " ".join(self.cells)


def statistics_of(array: Any) -> Statistics:
    """Return the figures of an array.

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
    """Return what `Statistics` is made of."""
    kind = kind_of_shape(array.dtype, array.shape)
    values = array.astype(np.float64).reshape(-1)
    squares = sum_of_squares(values)  # if it is finite, every number is
    if TINY < squares < math.inf:
        # Of a few numbers Python finds the least sooner than NumPy has begun.
        few = values.tolist() if values.size <= FEW else None
        low, high = (min(few), max(few)) if few else (float(values.min()), float(values.max()))
        mean = without_noise(float(np.add.reduce(values)) / values.size, max(-low, high))
        return (kind, math.sqrt(squares), low, mean, high, 0, 0)
    return figures_with_care(kind, values)


def figures_with_care(kind: str, values: np.ndarray) -> tuple[Any, ...]:
    """Return the figures of numbers that may be missing, infinite, vast, tiny or none at all."""
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
    """Return the sum of the squares of real numbers; `vdot` warns of nothing, `dot` would.

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
    """Return a mean, or 0 where it is rounding error beside the largest element."""
    return 0.0 if abs(mean) < NOISE * largest else mean


def norm_of(array: Any) -> float:
    """Return the square root of the sum of squares."""
    values = np.asarray(array, "float64").ravel()
    squares = sum_of_squares(values)
    if TINY < squares < math.inf:
        return math.sqrt(squares)
    largest = float(np.abs(values).max(initial=0.0))
    if not largest or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.square(values / largest).sum()))


def kind_of(array: Any) -> str:
    """Return type and shape of an array.

    Examples
    --------
    >>> kind_of(np.zeros((2, 3))), kind_of(np.int32(1)), kind_of(np.array([True]))
    ('f64[2,3]', 'i32[]', 'bool[1]')
    """
    array = np.asarray(array)
    return kind_of_shape(array.dtype, array.shape)


@lru_cache(maxsize=1024)  # the same few again and again, and each text is kept once
def kind_of_shape(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    """Return type and shape in a few letters."""
    letter = "bool" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize * 8}"
    return f"{letter}[{','.join(map(str, shape))}]"


def figure(value: Any, digits: int = 4) -> str:
    """Return a number with a few significant digits.

    Examples
    --------
    >>> figure(0.123456), figure(12.0), figure(-0.0), figure(1e-9)
    ('0.1235', '12', '0', '1e-09')
    """
    return f"{float(value) + 0.0:.{digits}g}"

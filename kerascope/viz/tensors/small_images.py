"""Small images of numbers, and bars: what figures, the playing page and films draw of an array.

`small_image(matrix)` returns a `SmallImage`: a level (an index into 254 colours) for each number,
with the scale of this matrix. It becomes a mark of a sheet (`raster`), the bytes of a PNG file
(`png`) or an array of pixels (`pixels`). `small_maps` does the same for some of many matrices, and
`bars_of` chooses the bars for the output of a model.

A matrix of numbers is drawn around zero: zero is white, positive numbers are orange and negative
numbers are blue, up to the largest absolute number of the matrix. A picture (`is_picture`), such as
the input of a convolutional net, is grey from its smallest number (black) to its largest (white).
NaN, Inf and -Inf have colours of their own and are counted; they never disappear, even if a large
matrix is thinned. Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kerascope.trace.statistics import figure
from kerascope.viz.roles import color_of
from kerascope.viz.sheet import Raster
from kerascope.viz.tensors.panels import thinned
from kerascope.viz.tensors.scales import Scale, roles_of
from kerascope.viz.writers.svg import palette_png

SIDE = 64  # the longest side of an image, in cells, unless the caller wants another
MOST_BARS, LARGEST_BARS = 10, 5  # a longer vector has bars for its largest numbers only
NEAR_ONE = 1e-3  # how far the sum of probabilities may be from 1, as in half precision


@dataclass(frozen=True)
class SmallImage:
    """A matrix of numbers as a small image.

    Attributes
    ----------
    levels : np.ndarray, shape (rows, columns), uint8
        For each drawn number the index of its colour, from 0 (`scale.low`) to 250 (`scale.high`).
        251 is NaN, 252 is Inf and 253 is -Inf.
    scale : Scale
    is_picture : bool
        Whether the image is grey instead of coloured around zero.
    steps : tuple of int
        (m, n) if only every m-th row and every n-th column of the matrix is drawn.
    nans, infinities : int
        Counts in the whole matrix.
    index : int
        The index of the map in the array that contains it.

    Examples
    --------
    >>> image = small_image(np.array([[-1.0, 0.0], [0.5, np.nan]]))
    >>> image.levels.tolist(), image.words, image.numbers().tolist()
    ([[0, 125], [188, 251]], '-1 to 1, 1 NaN', [[-1.0, 0.0], [0.504, nan]])
    """

    levels: np.ndarray
    scale: Scale
    is_picture: bool = False
    steps: tuple[int, int] = (1, 1)
    nans: int = 0
    infinities: int = 0
    index: int = 0

    @property
    def roles(self) -> tuple[str, ...]:
        """The colour role of each level (see `viz/roles.py`)."""
        return roles_of("g" if self.is_picture else "d")

    @property
    def words(self) -> str:
        """The ends of the scale, and the counts of NaN and infinite numbers, as text."""
        ends = f"{figure(self.scale.low)} to {figure(self.scale.high)}"
        return f"{ends}, {self.odd_words}" if self.odd_words else ends

    @property
    def odd_words(self) -> str:
        """The counts of NaN and infinite numbers as text, such as "2 NaN, 1 Inf"; "" for none."""
        counts = ((self.nans, "NaN"), (self.infinities, "Inf"))
        return ", ".join(f"{count} {word}" for count, word in counts if count)

    def numbers(self) -> np.ndarray:
        """Return the drawn numbers as their colours show them, exact to 1/500 of the scale."""
        low, high = self.scale.low, self.scale.high
        table = np.concatenate([np.linspace(low, high, 251), [np.nan, np.inf, -np.inf]])
        return table[self.levels]

    def raster(self, x: float, y: float, width: float, height: float, name: str = "") -> Raster:
        """Return the image as a mark of a sheet, with its upper left corner at (x, y)."""
        text = f"{name}: {self.words}" if name else self.words
        return Raster(x, y, width, height, self.levels, self.roles, text)

    def png(self, theme: str = "light") -> bytes:
        """Return the image as the bytes of a PNG file, with one pixel for each drawn number."""
        return palette_png(self.levels, [color_of(role, theme) for role in self.roles])

    def pixels(self, theme: str = "light") -> np.ndarray:
        """Return the image as pixels: shape (rows, columns, 3), uint8, red, green and blue."""
        colors = "".join(color_of(role, theme)[1:] for role in self.roles)
        return np.frombuffer(bytes.fromhex(colors), "uint8").reshape(-1, 3)[self.levels]


def small_image(
    matrix: np.ndarray, *, is_picture: bool = False, side: int = SIDE, index: int = 0
) -> SmallImage:
    """Return a matrix of numbers as a small image, with a scale of its own.

    Parameters
    ----------
    matrix : np.ndarray, shape (rows, columns)
    is_picture : bool
        Whether the image is grey from its smallest to its largest number.
    side : int
        The maximum number of rows and of columns. Of a larger matrix, every second (third, ...) row
        or column is drawn.
    index : int
        The index of the map in the array that contains it.
    """
    values = np.asarray(matrix, "float64")
    steps = (-(-values.shape[0] // side) or 1, -(-values.shape[1] // side) or 1)
    scale = _picture_scale(values) if is_picture else _scale_around_zero(values)
    levels = scale.levels(thinned(values, steps))
    odd = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    return SmallImage(levels, scale, is_picture, steps, *odd, index)


def small_maps(
    maps: np.ndarray, most: int, *, is_picture: bool = False, side: int = SIDE
) -> list[SmallImage]:
    """Return at most `most` of many maps as small images, each with a scale of its own.

    The strongest maps are chosen (see `strongest`) and returned in the order of their indices. Maps
    of one number, such as those of a global pooling, share a scale: each alone would be extreme.

    Parameters
    ----------
    maps : np.ndarray, shape (maps, rows, columns)
    most : int
    is_picture, side
        As for `small_image`.
    """
    images = [
        small_image(maps[index], is_picture=is_picture, side=side, index=index)
        for index in strongest(maps, most)
    ]
    if maps[0].size != 1 or is_picture:
        return images
    scale = _scale_around_zero(np.asarray(maps, "float64"))
    return [
        replace(one, levels=scale.levels(np.asarray(maps[one.index], "float64")), scale=scale)
        for one in images
    ]


def strongest(maps: np.ndarray, most: int) -> list[int]:
    """Return the indices of the maps with the largest mean absolute numbers, in increasing order.

    Maps with NaN or infinite numbers are chosen first, so that these are seen. Of equally strong
    maps, the first ones are chosen.

    Examples
    --------
    >>> strongest(np.array([[[1.0, -1.0]], [[0.0, 0.5]], [[3.0, 0.0]], [[np.nan, 0.0]]]), 2)
    [2, 3]
    """
    values = np.abs(np.asarray(maps, "float64")).reshape(len(maps), -1)
    with np.errstate(all="ignore"):  # a sum may overflow
        means = values.mean(axis=1) if values.size else np.zeros(len(maps))
    strength = np.where(np.isfinite(means), means, np.inf)
    return sorted(np.argsort(-strength, kind="stable")[:most].tolist())


def _scale_around_zero(values: np.ndarray) -> Scale:
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    return Scale(-largest, largest, True)


def _picture_scale(values: np.ndarray) -> Scale:
    scale = Scale.of(values, has_zero=False)
    if scale.low < scale.high:
        return scale
    low, high = min(scale.low, 0.0), max(scale.high, 0.0)  # of equal numbers: from or to zero
    return Scale(low, high if low < high else 1.0)


# --- bars -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """A bar for one number of a vector, such as the probability of a class.

    Attributes
    ----------
    index : int
        The index of the number in the vector.
    name : str
        The name of the class, or its index as text.
    value : float
    """

    index: int
    name: str
    value: float


def bars_of(vector: np.ndarray, names: Sequence[str] = (), most: int = MOST_BARS) -> list[Bar]:
    """Return a bar for each number of a vector, or for its largest five if it has more than `most`.

    The largest five are in decreasing order; NaN comes first, so that it is seen.

    Examples
    --------
    >>> bars_of(np.array([0.25, 0.75]), ["cat", "dog"])
    [Bar(index=0, name='cat', value=0.25), Bar(index=1, name='dog', value=0.75)]
    """
    numbers = np.asarray(vector, "float64").tolist()
    chosen = [*range(len(numbers))]
    if len(numbers) > most:
        rank = np.where(np.isnan(numbers), np.inf, numbers)
        chosen = np.argsort(-rank, kind="stable")[:LARGEST_BARS].tolist()
    return [Bar(i, str(names[i]) if names else str(i), numbers[i]) for i in chosen]


def are_probabilities(vector: np.ndarray) -> bool:
    """Return whether the numbers of a vector are between 0 and 1, with the sum 1.

    Examples
    --------
    >>> are_probabilities(np.array([0.25, 0.75])), are_probabilities(np.array([2.0, -1.0]))
    (True, False)
    """
    values = np.asarray(vector, "float64")
    in_range = bool(np.all((values >= 0) & (values <= 1 + NEAR_ONE)))
    return in_range and abs(float(values.sum()) - 1) <= NEAR_ONE

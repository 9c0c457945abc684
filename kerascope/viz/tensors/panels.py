"""Arrange arrays as panels, and thin large arrays.

An `ArrayPart` is an array with the names of its axes. Two axes become the rows and columns of a
panel. The other axes become a series of panels: a feature map per channel, an attention map per
head. Arrays that are too large for a picture are thinned evenly, and a note says so. NaN and
infinite numbers are never lost, because a drawn cell shows them instead of a finite number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kerascope.trace.statistics import figure
from kerascope.viz.tensors.scales import Scale

MOST_CELLS = 100_000  # cells in all panels of a part
LONGEST_SIDES = {1: 640, 4: 320, 16: 160}  # by number of panels; a cell is at least a pixel
LONGEST_SIDE = 112  # with more panels
MOST_NUMBERS = 256  # if there are more, they are drawn as an image
WIDEST_ROW = 16  # of a panel with numbers


@dataclass(frozen=True)
class ArrayPart:
    """An array with the meaning of its axes and the layout of its picture.

    Attributes
    ----------
    title : str
    values : np.ndarray
        The numbers.
    axes : tuple of str
        The meaning of each axis: ("row", "column", "channel").
    rows, columns : str
        The axes that are the rows and the columns of a panel.
    panels_in_row : int
        Number of panels side by side; 0 means as many as fit.
    labels : dict of str to sequence of str
        Names by axis, shown instead of indices.
    notes : tuple of str
        Lines of text below the title.
    has_zero : bool
        Whether zero has a meaning, so that a scale can be centred on it.
    colour_axis : str
        The axis of length three for red, green and blue, or "".
    """

    title: str
    values: np.ndarray
    axes: tuple[str, ...]
    rows: str = ""
    columns: str = ""
    panels_in_row: int = 0
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    has_zero: bool = True
    colour_axis: str = ""


@dataclass(frozen=True)
class Panel:
    """One matrix of an array, with its labels and its scale.

    Attributes
    ----------
    title : str
    values : np.ndarray
        The drawn numbers, after thinning.
    row_labels, column_labels : tuple of str
    scale : Scale
    nans, infinities : int
        Counts in the whole matrix, including numbers that are not drawn.
    """

    title: str
    values: np.ndarray
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    scale: Scale
    nans: int
    infinities: int

    @property
    def alarm(self) -> str:
        """The counts of NaN and infinite numbers: "3 NaN, 1 Inf"; "" if all are finite."""
        counts = ((self.nans, "NaN"), (self.infinities, "Inf"))
        return ", ".join(f"{count} {word}" for count, word in counts if count)


@dataclass(frozen=True)
class Panels:
    """All panels of an array, ready to be drawn.

    Attributes
    ----------
    title : str
    panels : tuple of Panel
    rows, columns : str
        The meaning of rows and columns.
    panels_in_row : int
        Number of panels side by side; 0 means as many as fit.
    scale : Scale
        The scale of all panels. If `is_shared` is False, each panel has its own scale.
    is_shared : bool
    notes : tuple of str
        Lines of text below the title.
    summary : str
        Shape, smallest and largest number, and counts of NaN and infinite numbers of the whole
        array.
    odd_words : tuple of (int, str)
        The levels of NaN and infinite numbers that have a special meaning, and this meaning.
    colours : tuple of (str, array, shape (rows, columns, 3), uint8)
        The numbers of the array as small colour images, each with its title.
    """

    title: str
    panels: tuple[Panel, ...]
    rows: str
    columns: str
    panels_in_row: int
    scale: Scale
    is_shared: bool
    notes: tuple[str, ...]
    summary: str
    odd_words: tuple[tuple[int, str], ...] = ()
    colours: tuple[tuple[str, np.ndarray], ...] = ()

    @property
    def has_numbers(self) -> bool:
        """Whether the panels are small enough to show each number."""
        sizes = [panel.values.shape for panel in self.panels]
        return sum(r * c for r, c in sizes) <= MOST_NUMBERS and all(
            c <= WIDEST_ROW for _, c in sizes
        )


def panels_of(
    part: ArrayPart, most: int, scale: str = "shared", limits: tuple[float, float] | None = None
) -> Panels:
    """Return an array as panels that are ready to be drawn; large arrays are thinned.

    Parameters
    ----------
    part : ArrayPart
    most : int
        The maximum number of panels.
    scale : {"shared", "own"}
        "shared": all panels have one scale. "own": each panel has its own scale.
    limits : pair of float, optional
        The lowest and the highest number of the scale, by default those of the array.

    Examples
    --------
    >>> maps = ArrayPart("maps", np.arange(24.0).reshape(2, 3, 4), ("row", "column", "channel"))
    >>> found = panels_of(maps, 2)
    >>> [panel.title for panel in found.panels], found.notes
    (['channel 0', 'channel 2'], ('2 of 4 channels are drawn: every 2nd',))
    >>> found.panels[1].values.tolist()
    [[2.0, 6.0, 10.0], [14.0, 18.0, 22.0]]
    """
    values, axes = _at_least_a_matrix(part)
    rows = part.rows or axes[0]
    columns = part.columns or next(axis for axis in axes if axis != rows)
    others = [axis for axis in axes if axis not in (rows, columns)]
    ordered = np.moveaxis(
        values, [axes.index(a) for a in (*others, rows, columns)], range(values.ndim)
    )
    notes: list[str] = []
    chosen = _chosen([ordered.shape[i] for i in range(len(others))], others, most, notes)
    whole = Scale.of(values, part.has_zero) if limits is None else _around(limits)
    labels = dict(part.labels)
    each = max(1, math.prod(len(x) for x in chosen))
    steps = _steps(ordered.shape[-2:], each)
    names = (rows, columns)
    notes += [
        f"{math.ceil(size / step)} of {size} {plural(name)} are drawn: every {ordinal(step)}"
        for name, size, step in zip(names, ordered.shape[-2:], steps, strict=True)
        if step > 1
    ]
    own = [
        tuple(labels.get(name, map(str, range(size))))[::step]
        for name, size, step in zip(names, ordered.shape[-2:], steps, strict=True)
    ]
    panels = []
    for place in np.ndindex(*(len(x) for x in chosen)):
        at = tuple(int(one[i]) for one, i in zip(chosen, place, strict=True))
        matrix = ordered[at]
        words = [
            labels[axis][i] if axis in labels else f"{axis} {i}"
            for axis, i in zip(others, at, strict=True)
        ]
        if others and all(axis.startswith("axis ") for axis in others):
            words = [f"[{', '.join(map(str, at))}]"]
        its = whole if scale == "shared" or limits is not None else Scale.of(matrix)
        odd = int(np.isnan(matrix).sum()), int(np.isinf(matrix).sum())
        panels.append(Panel(", ".join(words), thinned(matrix, steps), own[0], own[1], its, *odd))
    in_row = part.panels_in_row and len(chosen[-1])
    notes += _beyond(values, limits)
    colours = tuple(_colours(part, rows, columns))
    if colours and len(colours) < values.size // (3 * colours[0][1][..., 0].size):
        notes.append(f"the first {len(colours)} are drawn in colour")
    return Panels(
        part.title, tuple(panels), rows, columns, in_row, whole,
        is_shared=scale == "shared" or len(panels) == 1,
        notes=(*part.notes, *notes),
        summary=summary_of(part.values, part.axes), colours=colours,
    )  # fmt: skip


MOST_COLOURS = 64  # images
MOST_PIXELS = 3_200  # in all images


def _colours(part: ArrayPart, rows: str, columns: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the title and the numbers of small colour images of an array. Zero is grey.

    There is an image for each of the first indices of the axis that is neither rows, columns nor
    colours.
    """
    if not part.colour_axis or not np.isfinite(part.values).all():
        return
    other = next(axis for axis in part.axes if axis not in (rows, columns, part.colour_axis))
    order = [part.axes.index(axis) for axis in (other, rows, columns, part.colour_axis)]
    values = np.transpose(part.values, order).astype("float64")
    greatest = np.abs(values).max(initial=0.0) or 1.0
    most = min(MOST_COLOURS, MOST_PIXELS // max(values[0, ..., 0].size, 1) if len(values) else 0)
    for place, image in enumerate(values[:most]):
        bytes_ = np.rint(127.5 + 127.5 * image / greatest).astype("uint8")
        yield f"{other} {place}", bytes_


def summary_of(values: np.ndarray, axes: Sequence[str] = ()) -> str:
    """Return a line with the shape, range, and counts of NaN and infinite numbers of an array.

    Examples
    --------
    >>> summary_of(np.array([[1.0, -2.0], [np.nan, 0.5]]), ("row", "column"))
    '2 rows x 2 columns · min -2 · max 1 · 1 NaN'
    """
    words = " x ".join(
        f"{size} {plural(axis) if size != 1 else axis}"
        for size, axis in zip(values.shape, axes, strict=bool(axes))
    )
    if axes and all(axis.startswith("axis ") for axis in axes):  # the axes have no meaning
        words = f"shape {' x '.join(map(str, values.shape))}"
    finite = values[np.isfinite(values)]
    facts = [words or "a number"]
    if finite.size:
        facts += [f"min {figure(finite.min())}", f"max {figure(finite.max())}"]
    elif not values.size:
        facts.append("empty")
    else:
        facts.append("no finite numbers")
    counts = (
        (np.isnan(values), "NaN"),
        (np.isposinf(values), "+Inf"),
        (np.isneginf(values), "-Inf"),
    )
    facts += [f"{int(found.sum())} {word}" for found, word in counts if found.any()]
    return " · ".join(facts)


def plural(noun: str) -> str:
    """Return the plural of the name of an axis: "rows", "queries"; "axis 0" is unchanged."""
    if noun[-1:].isdigit() or noun.endswith("s"):
        return noun
    if noun.endswith("index"):
        return f"{noun[:-2]}ices"
    return (
        f"{noun[:-1]}ies"
        if noun.endswith("ry")
        else f"{noun}es"
        if noun.endswith("tch")
        else f"{noun}s"
    )


def ordinal(number: int) -> str:
    """Return the ordinal of a number as text: "2nd" for 2, "11th" for 11."""
    last = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"


# --- thinning -------------------------------------------------------------------------------------


def _at_least_a_matrix(part: ArrayPart) -> tuple[np.ndarray, tuple[str, ...]]:
    values, axes = np.asarray(part.values, "float64"), part.axes
    if values.ndim == 0:
        return values.reshape(1, 1), ("", " ")
    return (values[None], ("", *axes)) if values.ndim == 1 else (values, axes)


def _around(limits: tuple[float, float]) -> Scale:
    low, high = limits
    if low < 0 < high:
        return Scale(-max(-low, high), max(-low, high), True)
    return Scale(low, high)


def _chosen(sizes: Sequence[int], axes: Sequence[str], most: int, notes: list[str]) -> list[range]:
    """Return the drawn indices of each axis, evenly spaced. The longest axes are thinned."""
    steps = [1] * len(sizes)
    while math.prod(math.ceil(n / s) for n, s in zip(sizes, steps, strict=True)) > most:
        left = [math.ceil(n / s) for n, s in zip(sizes, steps, strict=True)]
        longest = left.index(max(left))
        if len(sizes) == 1:
            steps[0] = math.ceil(sizes[0] / most)
        else:
            steps[longest] += 1
    for axis, size, step in zip(axes, sizes, steps, strict=True):
        if step > 1:
            drawn = math.ceil(size / step)
            notes.append(f"{drawn} of {size} {plural(axis)} are drawn: every {ordinal(step)}")
    return [range(0, n, s) for n, s in zip(sizes, steps, strict=True)]


def _steps(shape: Sequence[int], panels: int) -> tuple[int, int]:
    """Return m and n with which all panels fit, if only every m-th row and n-th column is drawn."""
    side = next((n for most, n in LONGEST_SIDES.items() if panels <= most), LONGEST_SIDE)
    steps = [math.ceil(max(1, size) / side) for size in shape]
    left = [math.ceil(max(1, size) / step) for size, step in zip(shape, steps, strict=True)]
    most = max(1, MOST_CELLS // panels)
    while left[0] * left[1] > most:
        longer = left.index(max(left))
        steps[longer] += 1
        left[longer] = math.ceil(shape[longer] / steps[longer])
    return steps[0], steps[1]


def thinned(matrix: np.ndarray, steps: tuple[int, int]) -> np.ndarray:
    """Return every m-th row and n-th column of a matrix, for `steps` (m, n).

    NaN and infinite numbers that would be dropped replace kept finite numbers next to them.
    """
    thin = matrix[:: steps[0], :: steps[1]].copy()
    if steps == (1, 1) or np.isfinite(matrix).all():
        return thin
    for odd, value in ((np.isneginf, -np.inf), (np.isposinf, np.inf), (np.isnan, np.nan)):
        for row, column in np.argwhere(odd(matrix)):
            thin[row // steps[0], column // steps[1]] = value
    return thin


def _beyond(values: np.ndarray, limits: tuple[float, float] | None) -> Iterator[str]:
    if limits is None:
        return
    scale, finite = _around(limits), values[np.isfinite(values)]
    outside = int(((finite < scale.low) | (finite > scale.high)).sum())
    if outside:
        yield f"{outside} {'numbers are' if outside > 1 else 'number is'} outside the scale"


def select_sample(part: ArrayPart, sample: int) -> ArrayPart:
    """Return one sample of an `ArrayPart`, without the axis "sample"; a note states its index."""
    axis = part.axes.index("sample")
    axes = part.axes[:axis] + part.axes[axis + 1 :]
    words = f"sample {sample} of {part.values.shape[axis]}"
    return replace(
        part, values=part.values.take(sample, axis), axes=axes, notes=(words, *part.notes)
    )

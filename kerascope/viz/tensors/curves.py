"""Curves: numbers over epochs or batches, on axes side by side.

A curve is identified by its colour, its dashes, the marker at its end, and its name next to it. A
number that is not finite is a gap with a cross at the lower edge, and is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.trace.statistics import figure
from kerascope.viz.roles import SERIES
from kerascope.viz.sheet import Label, Line, Rectangle, Shape, Sheet, moved, padded_width

_MATPLOTLIB = "matplotlib.pyplot"
BACKENDS = ("kerascope", "matplotlib")
WIDTH, HEIGHT, MARGIN, GAP = 380.0, 200.0, 16.0, 26.0
TITLE, HEADING, LINE, SMALL = 15.0, 12.0, 10.5, 9.0
IN_A_ROW = 2
DASHES = ((), (6.0, 3.0), (2.0, 2.5), (8.0, 2.5, 2.0, 2.5))
LINE_STYLES = ("-", "--", ":", "-.")  # the same dashes in matplotlib
TEXT_HEIGHT = 10
FAR = 1e300  # larger numbers are drawn here, so that differences cannot overflow
SIGNS = "*o+x#@%&"


@dataclass(frozen=True)
class Curve:
    """The numbers of one curve and their positions.

    Attributes
    ----------
    name : str
    x, y : tuple of float
    style : int
        Index of the line style; 0 is a solid line, others are dashed.
    color : int
        Index of the colour in `roles.SERIES`.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: int = 0
    color: int = 0

    @property
    def odd(self) -> list[float]:
        """The x positions of those numbers of the curve that are not finite."""
        return [x for x, y in zip(self.x, self.y, strict=True) if not math.isfinite(y)]


@dataclass(frozen=True)
class Axes:
    """A pair of axes with curves; the scale of the y axis is logarithmic if `log` is set."""

    title: str
    x_label: str
    curves: tuple[Curve, ...]
    log: bool = False

    def heights(self, curve: Curve) -> list[float]:
        """Return the height of each number on the axes: the number or its logarithm.

        Numbers that cannot be drawn have the height NaN.
        """
        if not self.log:
            return [min(max(y, -FAR), FAR) if math.isfinite(y) else math.nan for y in curve.y]
        return [math.log10(min(y, FAR)) if 0 < y < math.inf else math.nan for y in curve.y]

    def ends(self) -> tuple[float, float]:
        """Return the lowest and highest number (or logarithm), with a margin if they are equal."""
        found = [y for one in self.curves for y in self.heights(one) if not math.isnan(y)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        if low == high:
            margin = 0.5 if self.log else abs(low) / 2 or 0.5
            return low - margin, high + margin
        return low, high

    def x_ends(self) -> tuple[float, float]:
        """Return the smallest and the largest x of all curves, with a margin if they are equal."""
        found = [x for curve in self.curves for x in curve.x]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the heights of the labels of the y axis, with the texts of these labels."""
        low, high = self.ends()
        if self.log and high - low >= 1:
            step = math.ceil((high - low) / 5)
            return [
                (k, figure(10.0**k, 3)) for k in range(math.ceil(low), math.floor(high) + 1, step)
            ]
        marks = round_numbers(low, high)
        return [(y, figure(10.0**y if self.log else y, 3)) for y in marks]

    @property
    def summary(self) -> str:
        """A text with the last number of each curve, and how many numbers are not drawn.

        Numbers that are not finite and, on a logarithmic scale, zeros are not drawn.
        """
        words = []
        for curve in self.curves:
            last = figure(curve.y[-1]) if curve.y else "nothing"
            odd = len(curve.odd)
            words.append(f"{curve.name} {last}" + (f" ({odd} not finite)" if odd else ""))
            zeros = sum(y <= 0 for y in curve.y) if self.log else 0
            words[-1] += f" ({zeros} zeros are not drawn)" if zeros else ""
        return f"{self.title}: at the end " + ", ".join(words)


@dataclass(frozen=True)
class Curves:
    """A picture of several axes side by side.

    Attributes
    ----------
    title : str
    axes : tuple of Axes
    notes : tuple of str
        Lines of text below the title.
    """

    title: str
    axes: tuple[Axes, ...]
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The summaries of all axes and the notes, as one text."""
        return ". ".join((*(one.summary for one in self.axes), *self.notes))

    def sheet(self) -> Sheet:
        """Return the picture as marks on a sheet."""
        shapes: list[Shape] = [Label(MARGIN, MARGIN + TITLE, self.title, TITLE, bold=True)]
        y = MARGIN + TITLE + 8
        for note in self.notes:
            y += LINE + 4
            shapes.append(Label(MARGIN, y, note, LINE, "quiet"))
        blocks = [_axes(one) for one in self.axes]
        x, right, below = MARGIN, MARGIN + padded_width(self.title, TITLE, True), y
        for place, (drawn, width, height) in enumerate(blocks):
            if place % IN_A_ROW == 0:
                x, y = MARGIN, below + GAP / 2
            shapes += [moved(shape, x, y) for shape in drawn]
            right, below = max(right, x + width), max(below, y + height)
            x += width + GAP
        return Sheet(right + MARGIN, below + MARGIN, tuple(shapes), self.title, self.description)

    def text(self, width: int, ascii_only: bool = False) -> str:
        """Return the picture as text."""
        lines = [self.title, *self.notes]
        for one in self.axes:
            lines += ["", *_text_lines(one, width)]
        return "\n".join(lines)


def round_numbers(low: float, high: float, most: int = 6, least_step: float = 0.0) -> list[float]:
    """Return up to `most` round numbers between two given numbers.

    Examples
    --------
    >>> round_numbers(0.0, 1.0), round_numbers(3, 47)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0])
    """
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        step = max(factor * power, least_step)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [round(k * step, 12 - math.floor(math.log10(step))) for k in range(first, last + 1)]


class _End(NamedTuple):
    """The label at the end of a curve: its y, the curve, and the curve's last drawn point.

    `points` contains only this point. It is empty if no number of the curve is finite.
    """

    y: float
    curve: Curve
    points: list[tuple[float, float]]


# --- axes as marks --------------------------------------------------------------------------------


def _axes(axes: Axes) -> tuple[list[Shape], float, float]:
    """Return the marks of a pair of axes and its curves, and the width and height of the whole."""
    ticks = axes.ticks()
    left = max((padded_width(word, SMALL) for _, word in ticks), default=0.0) + 6
    top = HEADING + 12
    scale = " (log scale)" if axes.log else ""
    shapes: list[Shape] = [Label(left, HEADING, f"{axes.title}{scale}", HEADING, bold=True)]
    (low, high), (first, last) = axes.ends(), axes.x_ends()

    def place(x: float, y: float) -> tuple[float, float]:
        share = y / (high - low) - low / (high - low)
        return left + (x - first) / (last - first) * WIDTH, top + (1 - share) * HEIGHT

    for height, word in ticks:
        _, y = place(first, height)
        shapes.append(Line(((left, y), (left + WIDTH, y)), "frame", 0.5, (1.0, 3.0)))
        shapes.append(Label(left - 4, y + 3, word, SMALL, "quiet", "end"))
    shapes.append(Rectangle(left, top, WIDTH, HEIGHT, "", "frame"))
    for mark in round_numbers(first, last, 8, 1.0):
        x, y = place(mark, low)
        shapes.append(Line(((x, y), (x, y + 3)), "frame"))
        shapes.append(Label(x, y + SMALL + 5, figure(mark, 6), SMALL, "quiet", "middle"))
    bottom = top + HEIGHT + SMALL + 5
    shapes.append(Label(left + WIDTH / 2, bottom + LINE + 3, axes.x_label, LINE, "quiet", "middle"))
    ends = []
    for curve in axes.curves:
        points = [place(x, y) for x, y in zip(curve.x, axes.heights(curve), strict=True)]
        shapes += _line(curve, points, top + HEIGHT)
        seen = [p for p in points if not math.isnan(p[1])]
        ends.append(_End(seen[-1][1] if seen else top + HEIGHT, curve, seen[-1:]))
    width = left + WIDTH
    for y, curve, last_point in _without_overlap(ends):
        role = f"series-{curve.color}"
        for point in last_point:
            shapes += _mark(curve, point)
        shapes.append(
            Line(((left + WIDTH + 6, y), (left + WIDTH + 24, y)), role, 2, DASHES[curve.style])
        )
        name = Label(left + WIDTH + 28, y + 3, curve.name, LINE)
        shapes.append(name)
        width = max(width, name.x + padded_width(name.text, LINE))
    return shapes, width, bottom + LINE + 6


def _line(curve: Curve, points: Sequence[tuple[float, float]], bottom: float) -> Iterator[Shape]:
    """Yield a curve in pieces between its gaps, and a cross for each number that is not finite."""
    role, piece = f"series-{curve.color}", []
    for point in [*points, (math.nan, math.nan)]:
        if not math.isnan(point[1]):
            piece.append(point)
            continue
        if len(piece) == 1:
            (x, y), piece = piece[0], []
            yield Rectangle(x - 1.5, y - 1.5, 3, 3, role)
        elif piece:
            yield Line(tuple(piece), role, 1.8, DASHES[curve.style], {"name": curve.name})
            piece = []
    at = {x: point[0] for x, point in zip(curve.x, points, strict=True)}
    for x in curve.odd:
        for sign in (1, -1):
            ends = ((at[x] - 3, bottom - 3 * sign), (at[x] + 3, bottom + 3 * sign))
            yield Line(ends, "nan", 1.5)


def _mark(curve: Curve, end: tuple[float, float]) -> Iterator[Shape]:
    (x, y), role = end, f"series-{curve.color}"
    if curve.style % 2 == 0:
        yield Rectangle(x - 3, y - 3, 6, 6, role)
    else:
        yield Rectangle(x - 3, y - 3, 6, 6, "ground", role)


def _without_overlap(ends: Sequence[_End]) -> list[_End]:
    """Return the heights of the names, moved so that none overlap."""
    placed: list[_End] = []
    for one in sorted(ends, key=lambda one: one.y):
        least = placed[-1].y + LINE + 3 if placed else one.y
        placed.append(one._replace(y=max(one.y, least)))
    return placed


# --- as text --------------------------------------------------------------------------------------


def _text_lines(axes: Axes, width: int) -> Iterator[str]:
    """Yield axes as lines of text, with one character per curve. Later curves are in front."""
    (low, high), (first, last) = axes.ends(), axes.x_ends()
    words = [figure(10.0**y if axes.log else y, 3) for y in (high, (low + high) / 2, low)]
    left = max(map(len, words)) + 1
    columns = max(8, min(width - left - 1, 72))
    rows = [[" "] * columns for _ in range(TEXT_HEIGHT)]
    for curve, sign in zip(axes.curves, SIGNS * (len(axes.curves) // len(SIGNS) + 1), strict=False):
        for x, y in zip(curve.x, axes.heights(curve), strict=True):
            column = round((x - first) / (last - first) * (columns - 1))
            if not math.isnan(y):
                share = y / (high - low) - low / (high - low)
                rows[round((1 - share) * (TEXT_HEIGHT - 1))][column] = sign
            elif rows[-1][column] == " ":
                rows[-1][column] = "!"
    yield axes.title
    marks = {0: words[0], TEXT_HEIGHT // 2: words[1], TEXT_HEIGHT - 1: words[2]}
    for number, row in enumerate(rows):
        yield f"{marks.get(number, ''):>{left}}|{''.join(row)}".rstrip()
    ends = f"{figure(first, 6)}{figure(last, 6):>{columns - len(figure(first, 6))}}"
    yield f"{'':>{left}} {ends}"
    signs = [f"{s} {c.name}" for c, s in zip(axes.curves, SIGNS * 9, strict=False)]
    if any(math.isnan(y) for curve in axes.curves for y in axes.heights(curve)):
        signs.append("! not finite")
    yield "  ".join([*signs, f"(by {axes.x_label})"])


# --- matplotlib -----------------------------------------------------------------------------------


def draw_with_matplotlib(curves: Curves, ax: Any = None) -> Any:
    """Draw curves with matplotlib, so that you can edit the result.

    Parameters
    ----------
    curves : Curves
    ax : matplotlib Axes or sequence of Axes, optional
        The axes to draw on. A single Axes gets all curves; of a sequence, each item gets the
        curves of one `Axes` of the picture. Default: a new figure.

    Returns
    -------
    Figure or the given axes

    Raises
    ------
    MissingToolError
        No axes are given and matplotlib is not installed.
    ArgumentError
        There are fewer axes than needed.
    """
    made = None
    if ax is None:
        made, table = _pyplot().subplots(
            1, len(curves.axes), figsize=(5 * len(curves.axes), 3.5), squeeze=False
        )
        places = list(table[0])
    else:
        places = list(ax) if hasattr(ax, "__len__") else [ax] * len(curves.axes)
        places = list(getattr(ax, "flat", places))
    if len(places) < len(curves.axes):
        raise ArgumentError(
            f"plot: expected ax to be one or {len(curves.axes)} axes, got {len(places)}. There is "
            f"one for each of: {', '.join(one.title for one in curves.axes)}."
        )
    is_single = ax is not None and len(set(map(id, places))) == 1
    for one, place in zip(curves.axes, places, strict=False):
        for curve in one.curves:
            place.plot(curve.x, curve.y, linestyle=LINE_STYLES[curve.style], label=curve.name)
        place.set_xlabel(one.x_label)
        if not is_single:
            place.set_title(one.title)
        if one.log:
            place.set_yscale("log")
        place.legend()
    return made if ax is None else ax


def _pyplot() -> Any:
    try:
        return import_module(_MATPLOTLIB)
    except ImportError:
        raise MissingToolError(
            "plot: backend='matplotlib' needs matplotlib, which is not installed. Run "
            "`pip install 'kerascope[plot]'`, or leave out the backend."
        ) from None


def styled(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Return the curves with different colours; after all colours are used, lines are dashed."""
    return tuple(
        Curve(c.name, c.x, c.y, i // len(SERIES) % len(DASHES), i % len(SERIES))
        for i, c in enumerate(curves)
    )

"""What a figure is made of: polygons, circles, lines and words on a sheet, measured in points.

The forms (`volumes.py`, `u_shape.py`, ...) put marks on a `Canvas`; the writers turn the finished
`Sheet` into SVG, TikZ, PDF and PNG (`viz/writers/`). y grows downwards. A mark
carries `data`: which layers it stands for and what their shape is, so that a figure can be held
against its model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from kerascope.errors import ArgumentError
from kerascope.viz.figure.look import Look
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Circle, Data, Label, Line, Mark, Point, Polygon, Sheet

SMALLEST = 6.0  # points: no text of a figure is smaller
NARROWEST, WIDEST = 100.0, 1500.0  # points, of a figure
_POINTS = {"mm": 72 / 25.4, "cm": 720 / 25.4, "in": 72.0, "pt": 1.0}
HEAD = 3.6  # length of an arrow's head
BROKEN = (2.4, 1.6)  # dash and gap of broken lines
NONE = ""  # no colour: not filled, no outline
ELLIPSIS = "\u2026"


@dataclass(frozen=True)
class Page:
    """What all forms must know: how wide the figure is printed, and how things look."""

    width: float
    look: Look
    compact: bool = False  # texts as on a narrow page, where all would else not stand in one line

    @property
    def narrow(self) -> bool:
        """Whether it is one column of a page: another drawing, with fewer words."""
        return self.width < 340.0

    @property
    def size(self) -> float:
        """Size of most texts."""
        return 6.4 if self.narrow or self.compact else 7.4


def points_of(width: str) -> float:
    """Return a width of paper in points.

    Raises
    ------
    ArgumentError
        It is no such width.

    Examples
    --------
    >>> round(points_of("84mm"), 1), points_of("3.5in"), points_of("240pt")
    (238.1, 252.0, 240.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(mm|cm|in|pt)\s*", str(width))
    if not found:
        raise ArgumentError(
            f"draw: width is the width in print, a number and mm, cm, in or pt; got {width!r}. "
            f"Write width='84mm' for one column, or width='174mm' for the whole page."
        )
    points = float(found[1]) * _POINTS[found[2]]
    if not NARROWEST <= points <= WIDEST:
        raise ArgumentError(
            f"draw: no figure is {width} wide; expected {NARROWEST / _POINTS['mm']:.0f}mm to "
            f"{WIDEST / _POINTS['mm']:.0f}mm, got {points / _POINTS['mm']:.0f}mm. "
            f"Write width='84mm' for one column."
        )
    return points


class Canvas:
    """Collects marks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.look = page.look
        self.marks: list[Mark] = []

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str,
        *,
        corner: float = 0.0,
        dashed: bool = False,
        line_width: float = 0.7,
        data: Data | None = None,
    ) -> None:
        """Draw a rectangle in the colours of a kind of layer."""
        fill, line, hatch = self.look.box(kind)
        points = rounded(x, y, width, height, corner)
        self.marks.append(
            Polygon(points, fill, line, line_width, BROKEN if dashed else (), hatch, data or {})
        )

    def words(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float | None = None,
        anchor: str = "middle",
        bold: bool = False,
        quiet: bool = False,
        data: Data | None = None,
    ) -> None:
        """Write one line whose letters stand on y."""
        color = self.look.quiet if quiet else self.look.text
        size = max(SMALLEST, size or self.page.size)
        if text:
            self.marks.append(Label(x, y, text, size, color, anchor, bold, data or {}))

    def line(
        self,
        points: Iterable[Point],
        *,
        color: str | None = None,
        width: float = 0.7,
        head: bool = True,
        dashed: bool = False,
        data: Data | None = None,
    ) -> None:
        """Draw a line, with a head at its end."""
        path = tuple(points)
        color = color or self.look.edge
        dashes = BROKEN if dashed else ()
        if not head:
            self.marks.append(Line(path, color, width, dashes, data or {}))
            return
        (x0, y0), (x, y) = path[-2:]
        length = math.hypot(x - x0, y - y0) or 1.0
        u, v = (x - x0) / length, (y - y0) / length
        long = min(HEAD, length * 0.7)
        half = long * 0.36
        neck = (x - u * long * 0.9, y - v * long * 0.9)
        self.marks.append(Line((*path[:-1], neck), color, width, dashes, data or {}))
        wings = tuple(
            (x - u * long - s * v * half, y - v * long + s * u * half) for s in (1.0, -1.0)
        )
        self.marks.append(Polygon(((x, y), *wings), color, NONE, 0.0))

    def circle(
        self, x: float, y: float, radius: float, fill: str, line: str, data: Data | None = None
    ) -> None:
        """Draw a filled circle."""
        self.marks.append(Circle(x, y, radius, fill, line, data=data or {}))

    def sheet(self, height: float, legend: str) -> Sheet:
        """Return what was drawn."""
        marks = tuple(self.marks)
        return Sheet(
            self.page.width, height, marks, "", legend, 1.0, "", kind="figure", on_paper=True
        )


def rounded(x: float, y: float, width: float, height: float, corner: float) -> tuple[Point, ...]:
    """Return the outline of a rectangle; round corners are short straight lines.

    Examples
    --------
    >>> rounded(0, 0, 2, 1, 0)
    ((0, 0), (2, 0), (2, 1), (0, 1))
    """
    right, bottom = x + width, y + height
    if not corner:
        return (x, y), (right, y), (right, bottom), (x, bottom)
    corners = (
        (right - corner, y + corner, -90),
        (right - corner, bottom - corner, 0),
        (x + corner, bottom - corner, 90),
        (x + corner, y + corner, 180),
    )
    return tuple(
        (
            cx + corner * math.cos(math.radians(start + step)),
            cy + corner * math.sin(math.radians(start + step)),
        )
        for cx, cy, start in corners
        for step in (0, 30, 60, 90)
    )


# --- words ----------------------------------------------------------------------------------------


def shortened(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return a text that is no wider: cut at a word if that leaves enough of it, else anywhere.

    Examples
    --------
    >>> shortened("multi head attention", 60.0, 7.0)
    'multi head\u2026'
    >>> shortened("attention", 60.0, 7.0)
    'attention'
    """
    if text_width(text, size, bold) <= width:
        return text
    cut = text
    while cut and text_width(cut + ELLIPSIS, size, bold) > width:
        cut = cut[:-1]
    word = cut[: cut.rfind(" ")] if " " in cut.rstrip() else cut
    kept = word if len(word) * 2 > len(cut) else cut
    return kept.rstrip(" ,(") + ELLIPSIS


def fitting_size(text: str, width: float, size: float, bold: bool = False) -> float | None:
    """Return the greatest size up to `size` at which a text is no wider, None if none can be read.

    Examples
    --------
    >>> fitting_size("4096", 100.0, 7.4), fitting_size("4096", 5.0, 7.4)
    (7.4, None)
    """
    while size >= SMALLEST:
        if text_width(text, size, bold) <= width:
            return size
        size = round(size - 0.1, 1)
    return None

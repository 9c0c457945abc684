"""The marks of a figure, measured in points, and how its texts fit the page.

The forms (`volumes.py`, `u_shape.py`, ...) place marks whose colours are roles; `drawer.py` paints
them. The y axis points down. The `data` of a mark names the layers that it shows and their shape,
so that a test can compare a figure with its model.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from kerascope.errors import ArgumentError
from kerascope.viz.sheet import Data, Label, Line, Point, Rectangle, padded_width

SMALLEST = 6.0  # points: the smallest text of a figure
NARROWEST, WIDEST = 100.0, 1500.0  # points, of a figure
POINTS = {"mm": 72 / 25.4, "cm": 720 / 25.4, "in": 72.0, "pt": 1.0}
BROKEN = (2.4, 1.6)  # dash and gap of broken lines
ELLIPSIS = "\u2026"


@dataclass(frozen=True)
class Page:
    """The printed width of a figure, on which the layout depends.

    With `compact`, texts are as small as on a narrow page, so that a wide figure fits in one line.
    """

    width: float
    compact: bool = False

    @property
    def narrow(self) -> bool:
        """Whether the figure is one text column wide, which requires a layout with fewer words."""
        return self.width < 340.0

    @property
    def size(self) -> float:
        """The font size of most texts."""
        return 6.4 if self.narrow or self.compact else 7.4


def points_of(width: str) -> float:
    """Return a printed width, such as "84mm", in points.

    Raises
    ------
    ArgumentError
        The width is not a number with a unit, or is too narrow or too wide.

    Examples
    --------
    >>> round(points_of("84mm"), 1), points_of("3.5in"), points_of("240pt")
    (238.1, 252.0, 240.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(mm|cm|in|pt)\s*", str(width))
    if not found:
        raise ArgumentError(
            f"draw: expected a width in mm, cm, in or pt, got {width!r}. "
            f"Write width='84mm' for one column, or width='174mm' for the whole page."
        )
    points = float(found[1]) * POINTS[found[2]]
    if not NARROWEST <= points <= WIDEST:
        raise ArgumentError(
            f"draw: expected a width of {NARROWEST / POINTS['mm']:.0f}mm to "
            f"{WIDEST / POINTS['mm']:.0f}mm, got {width}. "
            f"Write width='84mm' for one column."
        )
    return points


def too_narrow(subject: str, page: Page, least: float) -> ArgumentError:
    """Return the error for a page that is narrower than a form needs; both widths are in points."""
    width, least = page.width / POINTS["mm"], math.ceil(least / POINTS["mm"])
    return ArgumentError(
        f"draw: a figure of {subject} is not {width:.0f} mm wide; expected a width of at least "
        f"{least} mm. Give that, or figure='blocks', which joins layers that repeat."
    )


# --- marks ----------------------------------------------------------------------------------------


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    kind: str,
    data: Data | None = None,
    *,
    corner: float = 0.0,
    line_width: float = 0.7,
) -> Rectangle:
    """Return a rectangle in the colours of a kind of layer."""
    fill, line = f"fill {kind}", f"line {kind}"
    return Rectangle(x, y, width, height, fill, line, line_width, data, corner=corner)


def ground(x: float, y: float, width: float, height: float, role: str = "ground") -> Rectangle:
    """Return a rectangle that hides what is below it, so that a text on it can be read."""
    return Rectangle(x, y, width, height, role, line_width=0.0)


def frame(
    x: float, y: float, width: float, height: float, corner: float, colors: tuple[str, str]
) -> Rectangle:
    """Return a rectangle with a dashed outline."""
    return Rectangle(x, y, width, height, *colors, line_width=0.6, look="frame", corner=corner)


def words(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    anchor: str = "middle",
    bold: bool = False,
    quiet: bool = False,
    data: Data | None = None,
) -> Label:
    """Return one line of text whose baseline is at y."""
    color = "quiet" if quiet else "text"
    return Label(x, y, text, max(SMALLEST, size), color, anchor, bold, data)


def arrow(
    *points: Point,
    color: str = "edge",
    width: float = 0.7,
    head: bool = True,
    dashed: bool = False,
    data: Data | None = None,
) -> Line:
    """Return a line through points; with `head`, an arrow head is at its end."""
    dashes = BROKEN if dashed else ()
    return Line(points, color, width, dashes, data, head="arrow" if head else "")


# --- texts; they fit with space to spare for wider fonts than Helvetica ---------------------------


def shortened(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return a text cut to a width, after a word if at least half of the text that fits remains.

    Examples
    --------
    >>> shortened("multi head attention", 60.0, 7.0)
    'multi head\u2026'
    >>> shortened("attention", 60.0, 7.0)
    'attention'
    """
    if padded_width(text, size, bold) <= width:
        return text
    cut = text
    while cut and padded_width(cut + ELLIPSIS, size, bold) > width:
        cut = cut[:-1]
    word = cut[: cut.rfind(" ")] if " " in cut.rstrip() else cut
    kept = word if len(word) * 2 > len(cut) else cut
    return kept.rstrip(" ,(") + ELLIPSIS


def fitting_size(text: str, width: float, size: float, bold: bool = False) -> float | None:
    """Return the greatest font size up to `size` at which a text fits a width, otherwise None.

    Examples
    --------
    >>> fitting_size("4096", 100.0, 7.4), fitting_size("4096", 5.0, 7.4)
    (7.4, None)
    """
    while size >= SMALLEST:
        if padded_width(text, size, bold) <= width:
            return size
        size = round(size - 0.1, 1)
    return None

"""The drawer: paints the marks that a figure form placed, and adds the key (legend) below them.

Every figure passes through `sheet_of`. It resolves the roles of colours for a theme, and turns
boxes, frames and arrows into outlines that all writers accept (`viz/writers/`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kerascope.viz.figure.legends import KeyEntry, key_marks
from kerascope.viz.figure.look import Look
from kerascope.viz.figure.marks import BROKEN, Page
from kerascope.viz.sheet import Circle, Label, Line, Point, Polygon, Raster, Rectangle, Shape, Sheet

HEAD = 3.6  # length of an arrow's head


class FigureLayout(NamedTuple):
    """The layout that a figure form returns for a model.

    Attributes
    ----------
    marks : list of Shape
        In drawing order; their colours are roles.
    height : float
        The height of the figure without the key.
    sentences : list of str
        The caption.
    key : list of KeyEntry
        Explains the kinds of boxes or arrows below the figure.
    """

    marks: list[Shape]
    height: float
    sentences: list[str]
    key: Sequence[KeyEntry] = ()


def sheet_of(layout: FigureLayout, page: Page, look: Look, title: str) -> Sheet:
    """Return the sheet of a figure: its marks in the colours of a theme, with the key below."""
    key, height = key_marks(layout.key, page, layout.height)
    marks = tuple(one for mark in [*layout.marks, *key] for one in _painted(mark, look))
    caption = " ".join(layout.sentences)
    return Sheet(page.width, height, marks, title, caption, 1.0, "", kind="figure", on_paper=True)


def _painted(mark: Shape, look: Look) -> Iterator[Shape]:
    """Yield a mark in the colours of a theme, unless it would be invisible."""
    if isinstance(mark, Rectangle):
        fill, line = look.color(mark.fill), look.color(mark.line)
        dashes = BROKEN if mark.look == "frame" else ()
        if fill or line:
            points, hatch = outline(mark), look.hatch(mark.fill)
            yield Polygon(points, fill, line, mark.line_width, dashes, hatch, mark.data)
    elif isinstance(mark, Polygon):
        fill, line = look.color(mark.fill), look.color(mark.line)
        yield replace(mark, fill=fill, line=line, hatch=look.hatch(mark.fill))
    elif isinstance(mark, Circle):
        yield replace(mark, fill=look.color(mark.fill), line=look.color(mark.line))
    elif isinstance(mark, Raster):
        yield replace(mark, roles=tuple(look.color(role) for role in mark.roles))
    elif isinstance(mark, Label) and mark.text:
        yield replace(mark, color=look.color(mark.color))
    elif isinstance(mark, Line) and (color := look.color(mark.line)):
        yield from _with_head(mark, color) if mark.head else [replace(mark, line=color)]


def _with_head(mark: Line, color: str) -> Iterator[Shape]:
    """Yield an arrow as two marks: a line that ends inside the arrow head, and the arrow head."""
    (x0, y0), (x, y) = mark.points[-2:]
    length = math.hypot(x - x0, y - y0) or 1.0
    u, v = (x - x0) / length, (y - y0) / length
    long = min(HEAD, length * 0.7)
    half = long * 0.36
    neck = (x - u * long * 0.9, y - v * long * 0.9)
    yield replace(mark, points=(*mark.points[:-1], neck), line=color, head="")
    left, right = ((x - u * long - s * v * half, y - v * long + s * u * half) for s in (1.0, -1.0))
    yield Polygon(((x, y), left, right), color, "", 0.0)


def outline(mark: Rectangle) -> tuple[Point, ...]:
    """Return the outline of a rectangle; round corners are short straight lines.

    Examples
    --------
    >>> outline(Rectangle(0, 0, 2, 1))
    ((0, 0), (2, 0), (2, 1), (0, 1))
    """
    corner = mark.corner
    if not corner:
        return mark.points
    (x, y), _, (right, bottom), _ = mark.points
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

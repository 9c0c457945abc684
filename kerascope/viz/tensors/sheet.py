"""A sheet: the shapes of a picture and where they lie, which every writer draws.

Lengths are pixels from the upper left corner. Colours are roles (`scales.color_of`), so that one
sheet is light or dark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kerascope.viz.layout.measures import text_width


class Box(NamedTuple):
    """A rectangle.

    Attributes
    ----------
    x, y, width, height : float
    fill : str
        Role of its colour; "" is none.
    line : str
        Role of its frame; "" is none.
    place : tuple of int
        Row and column of the number that it shows; () for none.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    line: str = ""
    place: tuple[int, ...] = ()


class Words(NamedTuple):
    """A line of text on a base line; `anchor` says which end of it lies at x."""

    x: float
    y: float
    text: str
    size: float = 10.5
    role: str = "text"
    anchor: str = "start"
    bold: bool = False


class Stroke(NamedTuple):
    """A line through points, with dashes of these lengths."""

    points: tuple[tuple[float, float], ...]
    role: str = "edge"
    width: float = 1.0
    dashes: tuple[float, ...] = ()
    name: str = ""


class Raster(NamedTuple):
    """An image of levels (`Scale.levels`), each a rectangle of the same size.

    `letter` is that of the scale, `name` what it shows.
    """

    x: float
    y: float
    width: float
    height: float
    levels: np.ndarray
    letter: str
    name: str


Shape = Box | Words | Stroke | Raster


def room_for(text: str, size: float, bold: bool = False) -> float:
    """Return the room for a text, with some to spare: a reader's font may be a wider one."""
    return text_width(text, size, bold) * 1.12


def moved(shape: Shape, x: float, y: float) -> Shape:
    """Return a shape that lies so much further right and down."""
    if isinstance(shape, Stroke):
        return shape._replace(points=tuple((a + x, b + y) for a, b in shape.points))
    return shape._replace(x=shape.x + x, y=shape.y + y)


@dataclass(frozen=True)
class Sheet:
    """The shapes of a picture, what lies below first.

    Attributes
    ----------
    title : str
    description : str
        For a reader of the screen.
    width, height : float
    shapes : tuple
    """

    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Shape, ...]

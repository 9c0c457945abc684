"""A picture as rectangles and curves: what the layout gives and the writers draw.

Lengths are in points (1/72 inch; a browser's px); x grows to the right, y downward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle by its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def overlaps(self, other: Rect) -> bool:
        """Tell whether two rectangles have more in common than a border.

        Examples
        --------
        >>> Rect(0, 0, 10, 10).overlaps(Rect(10, 0, 5, 5))
        False
        """
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )


@dataclass(frozen=True, slots=True)
class Path:
    """The way of an arrow: a smooth line of cubic Bezier curves.

    Attributes
    ----------
    points : tuple of (float, float)
        The first point, then three for each curve: two that it is drawn towards and its end; so
        there are 1 + 3 n. The arrow's head is at the last.
    """

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Placed:
    """Where everything of a graph lies.

    Attributes
    ----------
    width, height : float
        Of the whole picture.
    boxes, frames : dict of str to Rect
        By the ids of boxes and groups; outer frames come before inner ones.
    paths : tuple of Path
        One for each edge, in the graph's order.
    edge_labels : dict of int to Rect
        Where the label of an edge (by its number) stands.
    depths : dict of int to Rect
        The strip in which the label of each row of the whole picture stands, by depth.
    caption : Rect
        Where the caption stands.
    """

    width: float
    height: float
    boxes: Mapping[str, Rect]
    frames: Mapping[str, Rect]
    paths: tuple[Path, ...]
    caption: Rect
    edge_labels: Mapping[int, Rect] = field(default_factory=dict)
    depths: Mapping[int, Rect] = field(default_factory=dict)

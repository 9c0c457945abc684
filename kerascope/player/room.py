"""Padding between the rows of a picture, for the values on its arrows.

The layout stays the same. Only the strips between two rows of boxes become higher.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from kerascope.viz.layout.arrange import Path, Placed, Rect

LEAST = 58.0  # minimum height of a strip between two rows
BESIDE = 70.0  # padding at the right side, for the numbers of a gradient


def roomy(placed: Placed) -> Placed:
    """Return a layout with enough padding between the rows for values on the arrows.

    Examples
    --------
    >>> boxes = {"a": Rect(0, 0, 10, 10), "b": Rect(0, 20, 10, 10)}
    >>> wide = roomy(Placed(10, 30, boxes, {}, (), Rect(0, 0, 0, 0)))
    >>> wide.boxes["b"].y, wide.height
    (68.0, 78.0)
    """
    strips = [(top, bottom) for top, bottom in _strips(placed) if bottom - top < LEAST]
    tops = [top for top, _ in strips]

    def moved(y: float) -> float:
        number = bisect_right(tops, y)
        before = sum(LEAST - (bottom - top) for top, bottom in strips[: max(number - 1, 0)])
        if not number:
            return y
        top, bottom = strips[number - 1]
        inside = min(y, bottom) - top
        return y + before + inside * (LEAST / (bottom - top) - 1)

    def moved_rect(rect: Rect) -> Rect:
        top, bottom = moved(rect.y), moved(rect.bottom)
        return Rect(rect.x, top, rect.width, bottom - top)

    def moved_label(rect: Rect) -> Rect:
        return Rect(rect.x, moved(rect.y), rect.width, rect.height)

    return replace(
        placed,
        width=placed.width + BESIDE,
        height=moved(placed.height),
        boxes={name: moved_rect(rect) for name, rect in placed.boxes.items()},
        frames={name: moved_rect(rect) for name, rect in placed.frames.items()},
        paths=tuple(Path(tuple((x, moved(y)) for x, y in path.points)) for path in placed.paths),
        caption=moved_label(placed.caption),
        edge_labels={name: moved_label(rect) for name, rect in placed.edge_labels.items()},
        depths={depth: moved_rect(rect) for depth, rect in placed.depths.items()},
    )


def _strips(placed: Placed) -> list[tuple[float, float]]:
    """Return (top, bottom) of each empty strip between two rows of boxes, from top to bottom."""
    found = []
    reached: float | None = None
    for rect in sorted(placed.boxes.values(), key=lambda one: one.y):
        if reached is not None and rect.y > reached + 1:
            found.append((reached, rect.y))
        reached = rect.bottom if reached is None else max(reached, rect.bottom)
    return found

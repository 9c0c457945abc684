"""Where the labels of arrows stand: on their arrow, clear of boxes and of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kerascope.viz.graph import Graph
from kerascope.viz.layout.placed import Path, Point, Rect
from kerascope.viz.layout.text_width import text_width

LABEL_SIZE, LABEL_HEIGHT = 10.0, 13.0
CELL = 120.0  # of the grid in which rectangles are looked up
STEPS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9)


def place_edge_labels(
    graph: Graph, boxes: Mapping[str, Rect], paths: Sequence[Path]
) -> dict[int, Rect]:
    """Return a rectangle for the label of each edge that has one, by the edge's number.

    The middle of the arrow comes first; then places nearer its ends, and the two sides of each.
    """
    labelled = [number for number, edge in enumerate(graph.edges) if edge.label]
    if not labelled:
        return {}
    taken = _Grid(boxes.values())
    found: dict[int, Rect] = {}
    for number in labelled:
        width = text_width(graph.edges[number].label, LABEL_SIZE) + 4
        choices = list(_choices(paths[number], width))
        rect = next((one for one in choices if not taken.hits(one)), choices[0])
        taken.add(rect)
        found[number] = rect
    return found


def _choices(path: Path, width: float) -> Iterator[Rect]:
    points = [point_at(path, share) for share in STEPS]
    for shift in (0.0, width / 2 + 4, -width / 2 - 4):
        for x, y in points:
            left, top = x - width / 2 + shift, y - LABEL_HEIGHT / 2
            yield Rect(round(left, 2), round(top, 2), round(width, 2), LABEL_HEIGHT)


def point_at(path: Path, share: float) -> Point:
    """Return the point of a path at a share of the way along its curves.

    Examples
    --------
    >>> point_at(Path(((0, 0), (0, 1), (0, 2), (0, 3))), 0.5)
    (0.0, 1.5)
    """
    curves = (len(path.points) - 1) // 3
    number = min(int(share * curves), curves - 1)
    t = share * curves - number
    a, b, c, d = path.points[3 * number : 3 * number + 4]
    weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
    x, y = (
        sum(weight * point[axis] for weight, point in zip(weights, (a, b, c, d), strict=True))
        for axis in (0, 1)
    )
    return float(x), float(y)


class _Grid:
    """Rectangles that are found by where they are."""

    def __init__(self, rects: Iterable[Rect]) -> None:
        self.cells: dict[tuple[int, int], list[Rect]] = {}
        for rect in rects:
            self.add(rect)

    def add(self, rect: Rect) -> None:
        for cell in self._cells_of(rect):
            self.cells.setdefault(cell, []).append(rect)

    def hits(self, rect: Rect) -> bool:
        return any(
            rect.overlaps(other)
            for cell in self._cells_of(rect)
            for other in self.cells.get(cell, ())
        )

    def _cells_of(self, rect: Rect) -> Iterator[tuple[int, int]]:
        for column in range(int(rect.x // CELL), int(rect.right // CELL) + 1):
            for row in range(int(rect.y // CELL), int(rect.bottom // CELL) + 1):
                yield column, row

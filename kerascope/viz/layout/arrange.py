"""`arrange(graph)`: the whole layout, from a graph to rectangles and curves.

Frames are laid out from the inside out. Then positions in the whole picture are computed from the
outside in.

The module contains the result (`Placed`: lengths are in points, 1/72 inch or a browser's px; x
grows to the right, y downward), then `arrange`, then the curves of arrows and the positions of
their labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.graph import Graph
from kerascope.viz.layout.levels import BEND, BOX, ENTRY, EXIT, FRAME, TITLE, Level, Route
from kerascope.viz.layout.measures import Measure, caption_size, measure, text_width, title_size
from kerascope.viz.layout.order import ordered_levels
from kerascope.viz.layout.places import Places, Shape, end_of, place_level
from kerascope.viz.sheet import Label

# --- the result: a picture as rectangles and curves -----------------------------------------------

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
        """The x coordinate of the right side of the rectangle."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y coordinate of the lower side of the rectangle."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """The x and y coordinates of the centre of the rectangle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def overlaps(self, other: Rect) -> bool:
        """Return whether two rectangles overlap; a shared border is not an overlap.

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
    """The line of an arrow: connected cubic Bezier curves.

    Attributes
    ----------
    points : tuple of (float, float)
        The start, and then three points for each curve: two control points and the end of the
        curve. So n curves have 1 + 3 n points. The arrow head is at the last point.
    """

    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Stroke:
    """One line of a picture in which a line may represent several arrows.

    Attributes
    ----------
    edges : tuple of int
        Indices (in the graph's `edges`) of the arrows that the line represents. The first arrow
        determines the look of the line.
    path : Path
        The points of the line.
    look : {"", "gradient", "update"}
        The role that determines the colour of the line.
    is_mark : bool
        Whether the stroke is the update of a variable: a symbol at the first point, not a line.
    when_pointed : bool
        Whether the line is visible only while the pointer is on the line's target.
    width : float, optional
        The width of the line, from the norm of a gradient: 0 for a gradient of zeros, None if the
        norm is unknown.
    """

    edges: tuple[int, ...]
    path: Path
    look: str = ""
    is_mark: bool = False
    when_pointed: bool = False
    width: float | None = None


@dataclass(frozen=True)
class Placed:
    """The layout of a graph: the positions of all boxes, frames, arrows and labels.

    Attributes
    ----------
    width, height : float
        The size of the whole picture.
    boxes, frames : dict of str to Rect
        By the ids of boxes and frames; outer frames come before inner ones.
    paths : tuple of Path
        One for each arrow, in the order of the graph's `edges`.
    edge_labels : dict of int to Rect
        Positions of the labels of arrows, by the index of the arrow.
    depths : dict of int to Rect
        Positions of the labels "depth 0", "depth 1", ... next to the outermost rows, by depth.
    caption : Rect
        The position of the caption.
    strokes : tuple of Stroke
        The lines of a ladder, which may represent several arrows each. Empty if each arrow has its
        own line (`paths`).
    words : tuple of Label
        Texts outside boxes.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name="scores")])
    >>> placed = ks.draw(model).layout
    >>> list(placed.boxes), placed.boxes["scores"].y > placed.boxes["scores_input"].y
    (['scores_input', 'scores'], True)
    """

    width: float
    height: float
    boxes: Mapping[str, Rect]
    frames: Mapping[str, Rect]
    paths: tuple[Path, ...]
    caption: Rect
    edge_labels: Mapping[int, Rect] = field(default_factory=dict)
    depths: Mapping[int, Rect] = field(default_factory=dict)
    strokes: tuple[Stroke, ...] = ()
    words: tuple[Label, ...] = ()


# --- the whole layout -----------------------------------------------------------------------------

MARGIN = 14.0
FRAME_PADDING = 11.0
BEND_WIDTH = 4.0
DOOR_WIDTH = 6.0
DEPTH_SIZE = 10.0
CAPTION_GAP = 14.0


@dataclass(slots=True)
class Arranged:
    """The layout of a frame level: its items with their positions.

    Attributes
    ----------
    level : Level
    shapes : list of Shape
        The size of each item.
    places : Places
    before, after : (float, float)
        Padding (across, along) between the items and the frame around them, at its beginning and
        end.
    """

    level: Level
    shapes: list[Shape]
    places: Places
    before: Point
    after: Point

    def shape(self) -> Shape:
        """Return the size and doors of the frame with these items, for the layout around it."""
        across = self.before[0] + self.places.across + self.after[0]
        along = self.before[1] + self.places.along + self.after[1]
        doors = {
            (kind, self.level.edges[item]): self.before[0] + self.places.middle[item] - across / 2
            for item, kind in enumerate(self.level.kinds)
            if kind in (ENTRY, EXIT)
        }
        return Shape(across, along, doors)


def arrange(graph: Graph, options: PictureOptions) -> tuple[Placed, dict[str, Measure]]:
    """Return the layout of a graph in rows, and the texts and sizes of its boxes.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions
        `rankdir` is the direction; the options of boxes determine their sizes.

    Returns
    -------
    Placed, dict of str to Measure
    """
    measures = {node.id: measure(node, options) for node in graph.nodes}
    done: dict[str, Arranged] = {}
    shapes: dict[str, Shape] = {}
    titles = {group.id: title_size(group) for group in graph.groups}
    is_sideways = options.rankdir == "LR"
    for group, level in ordered_levels(graph).items():
        done[group] = _arranged(level, measures, shapes, titles.get(group, (0, 0)), is_sideways)
        shapes[group] = done[group].shape()
    picture = _Picture(graph, options, done)
    picture.put_levels()
    return picture.placed(), measures


def _arranged(
    level: Level,
    measures: dict[str, Measure],
    frames: dict[str, Shape],
    title: Point,
    is_sideways: bool,
) -> Arranged:
    shapes = []
    for kind, name in zip(level.kinds, level.names, strict=True):
        if kind == BOX:
            size = measures[name].width, measures[name].height
            shapes.append(Shape(*(size[::-1] if is_sideways else size), {}))
        elif kind == FRAME:
            shapes.append(frames[name])
        elif kind == TITLE:
            shapes.append(Shape(0.0, 0.0, {}) if is_sideways else Shape(*title, {}))
        else:
            shapes.append(Shape(BEND_WIDTH if kind == BEND else DOOR_WIDTH, 0.0, {}))
    if not shapes:
        return Arranged(level, [], Places([], [], [], [], 0.0, 0.0), (0, 0), (0, 0))
    places = place_level(level, shapes)
    if not level.group:
        return Arranged(level, shapes, places, (0, 0), (0, 0))
    before = (FRAME_PADDING, FRAME_PADDING / 2)
    after = (FRAME_PADDING, FRAME_PADDING / 2)
    if is_sideways:
        before = (title[1] + FRAME_PADDING, FRAME_PADDING / 2)
        least = title[0] + 2 * FRAME_PADDING
        after = (FRAME_PADDING, max(FRAME_PADDING / 2, least - places.along - before[1]))
    return Arranged(level, shapes, places, before, after)


def depth_strip(level: Level) -> float:
    """Return the width of the column with the labels of depths, to the left of the rows."""
    depths = [depth for depth in level.depths if depth is not None]
    return max((text_width(f"depth {d}", DEPTH_SIZE) for d in depths), default=0.0) + 16


class _Picture:
    """Computes the positions of all boxes, frames and arrows, outer frames before inner ones."""

    def __init__(self, graph: Graph, options: PictureOptions, done: dict[str, Arranged]) -> None:
        self.graph = graph
        self.done = done
        self.is_sideways = options.rankdir == "LR"
        self.options = options
        self.caption = caption_size(graph)
        self.boxes: dict[str, Rect] = {}
        self.frames: dict[str, Rect] = {}
        self.pieces: dict[int, list[tuple[Route, list[Point]]]] = {}
        self.depth_strip = 0.0
        if options.depth_ranks:
            width = DEPTH_SIZE + 8 if self.is_sideways else depth_strip(done[""].level)
            self.depth_strip = width

    def put_levels(self) -> None:
        """Compute the positions of the contents of all frames, outer frames first."""
        across, along = MARGIN + self.depth_strip, MARGIN
        if self.is_sideways:
            across += self.caption[1] + CAPTION_GAP
        else:
            along += self.caption[1] + CAPTION_GAP
        self.origin = across, along
        if not self.is_sideways:  # a narrow picture is centred below its caption
            across += max(0.0, (self.caption[0] - self.done[""].places.across) / 2)
        self._put(self.done[""], across, along)
        for group in self.graph.groups:
            rect = self.frames[group.id]
            corner = (rect.y, rect.x) if self.is_sideways else (rect.x, rect.y)
            arranged = self.done[group.id]
            self._put(arranged, corner[0] + arranged.before[0], corner[1] + arranged.before[1])

    def _put(self, arranged: Arranged, across: float, along: float) -> None:
        level, places = arranged.level, arranged.places
        reach: dict[int, Point] = {}
        for item, (kind, name) in enumerate(zip(level.kinds, level.names, strict=True)):
            shape, row = arranged.shapes[item], level.row_of[item]
            top, bottom = places.tops[row], places.bottoms[row]
            if kind in (BOX, FRAME):
                top = (top + bottom - shape.along) / 2
                bottom = top + shape.along
                rect = self._rect(
                    across + places.middle[item] - shape.across / 2,
                    along + top,
                    shape.across,
                    shape.along,
                )
                (self.boxes if kind == BOX else self.frames)[name] = rect
            elif kind == ENTRY:
                top = bottom = -arranged.before[1]
            elif kind == EXIT:
                top = bottom = places.along + arranged.after[1]
            reach[item] = top, bottom
        for route in level.routes:
            points = route_points(level, arranged.shapes, places, route, reach)
            moved = [(a + across, b + along) for a, b in points]
            self.pieces.setdefault(route.edge, []).append((route, moved))

    def _rect(self, across: float, along: float, wide: float, deep: float) -> Rect:
        if self.is_sideways:
            return Rect(_round(along), _round(across), _round(deep), _round(wide))
        return Rect(_round(across), _round(along), _round(wide), _round(deep))

    def placed(self) -> Placed:
        """Return the finished layout."""
        paths = tuple(self._path(number) for number in range(len(self.graph.edges)))
        whole = self.done[""].places
        across = self.origin[0] + whole.across + MARGIN
        along = self.origin[1] + whole.along + MARGIN
        width, height = (along, across) if self.is_sideways else (across, along)
        left = MARGIN + (0.0 if self.is_sideways else self.depth_strip)
        width = max(width, left + self.caption[0] + MARGIN)
        caption = Rect(left, MARGIN, _round(width - left - MARGIN), self.caption[1])
        labels = place_edge_labels(self.graph, self.boxes, paths)
        width = max([width, *(rect.right + MARGIN for rect in labels.values())])
        return Placed(
            _round(width), _round(height), self.boxes, self.frames, paths, caption,
            labels, self._depths() if self.options.depth_ranks else {},
        )  # fmt: skip

    def _path(self, number: int) -> Path:
        """Join the routes of an arrow into one path, and reverse it if the arrow points upward."""
        pieces = sorted(self.pieces[number], key=lambda piece: piece[0].place)
        points = pieces[0][1] + [point for _, piece in pieces[1:] for point in piece[1:]]
        if pieces[0][0].turned:
            points.reverse()
        if self.is_sideways:
            points = [(along, across) for across, along in points]
        return Path(tuple((_round(x), _round(y)) for x, y in points))

    def _depths(self) -> dict[int, Rect]:
        level, places = self.done[""].level, self.done[""].places
        strips = {}
        for row, depth in enumerate(level.depths):
            if depth is not None:
                top = self.origin[1] + places.tops[row]
                deep = places.bottoms[row] - places.tops[row]
                across = self.origin[0] - self.depth_strip
                strips[depth] = self._rect(across, top, self.depth_strip, deep)
        return strips


def _round(length: float) -> float:
    return round(length, 2)


# --- the curve of an arrow through a level --------------------------------------------------------
#
# A point is (across, along). A line runs straight between the boxes of a row, and changes its
# position across only in the gaps between rows, where there are no boxes.

SWING = 0.5  # position of the bend between two rows
TURN = 24.0  # how far an arrow back swings out; less than a gap


def route_points(
    level: Level, shapes: list[Shape], places: Places, route: Route, reach: dict[int, Point]
) -> list[Point]:
    """Return the points of a route: its start, then two control points and the end of each curve.

    Parameters
    ----------
    reach : dict of int to (float, float)
        The first and the last coordinate of each box or frame along the direction of the picture,
        because a box may be less high than its row.
    """
    first, last = route.stops[0], route.stops[-1]
    start = places.middle[first] + end_of(level, shapes, first, route.edge, route.tail, EXIT)
    end = places.middle[last] + end_of(level, shapes, last, route.edge, route.head, ENTRY)
    if route.beside:
        return _straight_beside(shapes, places, first, last, reach)
    line = _Line((start, reach[first][1]))
    line.straight_to(places.bottoms[level.row_of[first]])
    if route.lane < 0:
        for upper, lower in pairwise(route.stops):
            across = end if lower == last else places.middle[lower]
            row = level.row_of[lower]
            line.swing_to(across, places.bottoms[level.row_of[upper]], places.tops[row])
            if lower != last:
                line.straight_to(places.bottoms[row])
    else:
        _along_the_lane(line, level, places, route, end)
    line.straight_to(reach[last][0])
    return line.points


def _straight_beside(
    shapes: list[Shape], places: Places, first: int, last: int, reach: dict[int, Point]
) -> list[Point]:
    """Return the points of a straight line from a box to its neighbour in the same row."""
    sign = 1.0 if places.middle[first] < places.middle[last] else -1.0
    top = max(reach[first][0], reach[last][0])
    bottom = min(reach[first][1], reach[last][1])
    along = (top + bottom) / 2
    start = places.middle[first] + sign * shapes[first].across / 2
    end = places.middle[last] - sign * shapes[last].across / 2
    third = (end - start) / 3
    return [(start, along), (start + third, along), (end - third, along), (end, along)]


def _along_the_lane(line: _Line, level: Level, places: Places, route: Route, end: float) -> None:
    """Extend a line from its box into the lane of a route, along the lane, and to x = `end`."""
    lane = places.lanes[route.lane]
    row, last_row = level.row_of[route.stops[0]], level.row_of[route.stops[-1]]
    bottom, top = places.bottoms[row], places.tops[last_row]
    if last_row > row + 1:
        line.swing_to(lane, bottom, places.tops[row + 1])
        line.straight_to(places.bottoms[last_row - 1])
        line.swing_to(end, places.bottoms[last_row - 1], top)
        return
    line.turn_to(lane, bottom, bottom + TURN)
    line.straight_to(top)
    line.turn_to(end, top, top - TURN)


class _Line:
    """A curve that is extended piece by piece."""

    def __init__(self, start: Point) -> None:
        self.points = [start]

    def straight_to(self, along: float) -> None:
        across, before = self.points[-1]
        if abs(along - before) < 0.01:
            return
        if len(self.points) >= 4 and self._is_straight():
            before = self.points[-4][1]
            del self.points[-3:]
        third = (along - before) / 3
        self.points += [(across, before + third), (across, along - third), (across, along)]

    def _is_straight(self) -> bool:
        return len({across for across, _ in self.points[-4:]}) == 1

    def swing_to(self, across: float, top: float, bottom: float) -> None:
        before, _ = self.points[-1]
        if abs(across - before) < 0.05:
            self.straight_to(bottom)
            return
        bend = (bottom - top) * SWING
        self.points += [(before, top + bend), (across, bottom - bend), (across, bottom)]

    def turn_to(self, across: float, along: float, out: float) -> None:
        before, _ = self.points[-1]
        self.points += [(before, out), (across, out), (across, along)]


# --- labels of arrows, on their arrow but not on boxes or other labels ----------------------------

LABEL_SIZE, LABEL_HEIGHT = 10.0, 13.0
CELL = 120.0  # size of the cells of the grid that indexes rectangles
STEPS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9)


def place_edge_labels(
    graph: Graph, boxes: Mapping[str, Rect], paths: Sequence[Path]
) -> dict[int, Rect]:
    """Return the rectangle of the label of each labelled arrow, by the index of the arrow.

    The middle of the arrow is tried first, then positions nearer the arrow's ends, then positions
    to the left and right of the arrow.
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
    """Return the point of a path at a fraction of the path, from 0 (start) to 1 (end).

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
    """A spatial index of rectangles, to find overlaps."""

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

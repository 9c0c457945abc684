"""`arrange(graph)`: the whole layout, from a graph to rectangles and curves.

Frames are arranged from the inside out; then, from the outside in, everything learns where it lies
in the whole picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.graph import Graph
from kerascope.viz.layout.edge_labels import place_edge_labels
from kerascope.viz.layout.levels import (
    BEND,
    BOX,
    ENTRY,
    EXIT,
    FRAME,
    TITLE,
    Level,
    Route,
)
from kerascope.viz.layout.measures import Measure, caption_size, measure, title_size
from kerascope.viz.layout.order import ordered_levels
from kerascope.viz.layout.placed import Path, Placed, Point, Rect
from kerascope.viz.layout.places import Places, Shape, place_level
from kerascope.viz.layout.routes import route_points
from kerascope.viz.layout.text_width import text_width

MARGIN = 14.0
FRAME_PADDING = 11.0
BEND_WIDTH = 4.0
DOOR_WIDTH = 6.0
DEPTH_SIZE = 10.0
CAPTION_GAP = 14.0


@dataclass(slots=True)
class Arranged:
    """A level with the places of its items.

    Attributes
    ----------
    level : Level
    shapes : list of Shape
    places : Places
    before, after : (float, float)
        Room between the frame and what is in it: (across, along), at its beginning and its end.
    """

    level: Level
    shapes: list[Shape]
    places: Places
    before: Point
    after: Point

    def shape(self) -> Shape:
        """Return the frame around this level as an item of the level around it."""
        across = self.before[0] + self.places.across + self.after[0]
        along = self.before[1] + self.places.along + self.after[1]
        doors = {
            (kind, self.level.edges[item]): self.before[0] + self.places.middle[item] - across / 2
            for item, kind in enumerate(self.level.kinds)
            if kind in (ENTRY, EXIT)
        }
        return Shape(across, along, doors)


def arrange(graph: Graph, options: PictureOptions) -> tuple[Placed, dict[str, Measure]]:
    """Return where everything of a graph lies, and the words and sizes of its boxes.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions
        `rankdir` decides the direction; what boxes show decides their sizes.

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


class _Picture:
    """Collects where everything lies in the whole picture, frame by frame from the outside in."""

    def __init__(self, graph: Graph, options: PictureOptions, done: dict[str, Arranged]) -> None:
        self.graph = graph
        self.done = done
        self.is_sideways = options.rankdir == "LR"
        self.options = options
        self.caption = caption_size(graph)
        self.boxes: dict[str, Rect] = {}
        self.frames: dict[str, Rect] = {}
        self.pieces: dict[int, list[tuple[Route, list[Point]]]] = {}
        self.depth_strip = self._depth_strip() if options.depth_ranks else 0.0

    def _depth_strip(self) -> float:
        if self.is_sideways:
            return DEPTH_SIZE + 8
        depths = [depth for depth in self.done[""].level.depths if depth is not None]
        return max((text_width(f"depth {d}", DEPTH_SIZE) for d in depths), default=0.0) + 16

    def put_levels(self) -> None:
        """Put every level at its place; a frame's is known when the level around it is put."""
        across, along = MARGIN + self.depth_strip, MARGIN
        if self.is_sideways:
            across += self.caption[1] + CAPTION_GAP
        else:
            along += self.caption[1] + CAPTION_GAP
        self.origin = across, along
        if not self.is_sideways:  # a narrow picture stands in the middle below its caption
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
        """Return all that was collected."""
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
        """Join the pieces of an arrow; one that runs upward was drawn from its end."""
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

"""A sheet: the marks of a picture (rectangles, lines, labels, ...), which every writer draws.

Figures, pictures of arrays and graphs all become a `Sheet`, which `writers/` writes as SVG, PDF,
PNG and TikZ. Coordinates are in the units of the sheet; y grows downwards. The field `data` of a
mark becomes the data attributes of its SVG element.

The colours of a mark are roles ("text", "series-2", "on-nan"), which a theme resolves, or
"#RRGGBB"; "" means none. In a graph, the colour of a mark depends on the box around it. Such a mark
has a `look` (CSS classes) instead, and the rules of the sheet (`Ink`) give its colours. Marks are
never changed; `replace` makes a new one. (They are not frozen dataclasses because these are slow to
create.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from kerascope.viz.layout.measures import text_width
from kerascope.viz.roles import color_of
from kerascope.viz.theme import FONT

Point = tuple[float, float]
Data = Mapping[str, Any]

PIXEL = 0.75  # points


@dataclass(slots=True)
class Rectangle:
    """A rectangle with its upper left corner at (x, y); `corner` is the radius of its corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    line: str = ""
    line_width: float = 1.0
    data: Data | None = None
    look: str = ""
    corner: float = 0.0

    @property
    def points(self) -> tuple[Point, ...]:
        """The four corners of the rectangle."""
        right, bottom = self.x + self.width, self.y + self.height
        return (self.x, self.y), (right, self.y), (right, bottom), (self.x, bottom)


@dataclass(slots=True)
class Polygon:
    """A filled outline; `hatch` names a pattern in the colour of the line.

    With `curved` the points are cubic Bezier curves, three points each after the first.
    """

    points: tuple[Point, ...]
    fill: str
    line: str
    line_width: float = 0.7
    dashes: tuple[float, ...] = ()
    hatch: str = ""
    data: Data | None = None
    look: str = ""
    curved: bool = False


@dataclass(slots=True)
class Circle:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str
    line: str
    line_width: float = 0.9
    data: Data | None = None
    look: str = ""


@dataclass(slots=True)
class Line:
    """A line through points; if `curved`, a line of cubic Bezier curves.

    Each curve has three points, after the first point of the line.

    `head` names the arrow head at the end of the line; `more` are further pieces of the same line.
    A `line_width` of 0 means the width that the rules of the sheet give to the look of the line.
    """

    points: tuple[Point, ...]
    line: str = "edge"
    line_width: float = 1.0
    dashes: tuple[float, ...] = ()
    data: Data | None = None
    look: str = ""
    curved: bool = False
    closed: bool = False
    head: str = ""
    tooltip: str = ""
    more: tuple[tuple[Point, ...], ...] = ()


@dataclass(slots=True)
class Label:
    """One line of text with baseline y, whose `anchor` ("start", "middle" or "end") is at x.

    If a label has a look, `size` and `bold` must agree with the rules of the sheet. A `pinned`
    label has the width that it has in Helvetica, whatever the font of the SVG.
    """

    x: float
    y: float
    text: str
    size: float = 10.5
    color: str = "text"
    anchor: str = "start"
    bold: bool = False
    data: Data | None = None
    look: str = ""
    pinned: bool = True

    @property
    def width(self) -> float:
        """The width of the label's text in Helvetica."""
        return text_width(self.text, self.size, self.bold)

    @property
    def left(self) -> float:
        """The x coordinate of the left end of the label's text."""
        return self.x - self.width * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]


@dataclass(slots=True)
class Raster:
    """An image with one cell per number. `levels` holds indices of `roles`, one for each cell."""

    x: float
    y: float
    width: float
    height: float
    levels: np.ndarray
    roles: tuple[str, ...]
    name: str


@dataclass(slots=True)
class Group:
    """Marks that belong together: those of a box, or of an arrow with its label or symbol.

    Attributes
    ----------
    look : str
        CSS classes: "box k-dense is-added".
    marks : tuple of Mark
    data : mapping
        Identifies the group for scripts: {"id": "dense_1"}.
    label : str, optional
        Text for screen readers. If it is None, screen readers skip the group.
    tooltip : str
    box : str
        Id of the box that the group draws, if any.
    edges : tuple of int
        Indices of the arrows that the group draws.
    """

    look: str
    marks: tuple[Any, ...]
    data: Data | None = None
    label: str | None = None
    tooltip: str = ""
    box: str = ""
    edges: tuple[int, ...] = ()


Shape = Rectangle | Polygon | Circle | Line | Label | Raster
Mark = Group | Shape


class Ink(NamedTuple):
    """A rule of a sheet: the colours and line styles of all marks with certain CSS classes.

    Attributes
    ----------
    where : str
        A CSS selector: ".box.is-done .line,.frame.is-done".
    fill, line : str
        "#RRGGBB" or "none"; "" sets nothing.
    line_width, dashes : str
        "1.2", "5 3".
    more : str
        Further CSS, for browsers only: "font-size:10px". For other formats, labels contain the size
        and weight of their text themselves.
    """

    where: str
    fill: str = ""
    line: str = ""
    line_width: str = ""
    dashes: str = ""
    more: str = ""


@dataclass(frozen=True)
class Sheet:
    """A finished picture: marks with their sizes, and the rules of their colours.

    Attributes
    ----------
    width, height : float
    marks : tuple of Mark
        In drawing order.
    title, description : str
        For screen readers.
    unit : float
        Points per unit in print; in SVG a unit is a pixel.
    ground : str
        The colour of the background; "" for a transparent one.
    kind : str
        The class of the SVG, to which its style sheet is restricted.
    inks, dark_inks : tuple of Ink
        Rules for marks with a look; of equally specific rules the later one wins. Those in
        `dark_inks` are added if the reader's system is dark.
    heads : tuple of str
        The arrow heads that lines may have.
    label : str
        The name for screen readers; by default the title.
    font : str
        Font names as in CSS.
    on_paper : bool
        Whether the size of an SVG is in millimetres.

    Examples
    --------
    >>> import kerascope as ks
    >>> sheet = ks.show([[1.0, 2.0]], title="two numbers").sheet
    >>> sheet.title, sheet.width > sheet.height, sheet.has_rasters
    ('two numbers', True, False)
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str
    description: str
    unit: float = PIXEL
    ground: str = "ground"
    kind: str = "tensors"
    inks: tuple[Ink, ...] = ()
    dark_inks: tuple[Ink, ...] = ()
    heads: tuple[str, ...] = ()
    label: str = ""
    font: str = FONT
    on_paper: bool = False

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The marks of a sheet that has no groups, such as the result of `plain_sheet`."""
        return cast("tuple[Shape, ...]", self.marks)

    @property
    def has_rasters(self) -> bool:
        """Whether the sheet contains images of arrays."""
        return any(isinstance(mark, Raster) for mark in self.marks)

    def drawn(self) -> Iterator[Mark]:
        """Yield the marks and, after each hatched polygon, the lines of its pattern."""
        for mark in self.marks:
            yield mark
            if isinstance(mark, Polygon) and mark.hatch:
                for line in hatching(mark.points, mark.hatch):
                    yield Line(line, mark.line, 0.3)


# --- plain marks for writers without style sheets -------------------------------------------------


def plain_sheet(sheet: Sheet, theme: str) -> Sheet:
    """Return a sheet in points whose colours are "#RRGGBB", for writers without style sheets.

    Roles, looks, groups and arrow heads are resolved into plain marks, and empty texts are left
    out. The background is a rectangle, and rectangles with round corners are curved polygons.
    """
    ground = Rectangle(0, 0, sheet.width, sheet.height, sheet.ground)
    marks: list[Shape] = [ground] if sheet.ground else []
    rules = Rules(sheet.inks)
    for mark in sheet.drawn():
        marks += rules.plain(mark, ("kerascope",))
    return replace(
        sheet,
        width=sheet.width * sheet.unit,
        height=sheet.height * sheet.unit,
        marks=tuple(
            _resolved(mark, sheet.unit, theme)
            for mark in marks
            if not isinstance(mark, Label) or mark.text
        ),
        unit=1.0,
        ground=color_of(sheet.ground, theme) if sheet.ground else "",
    )


LENGTHS = ("x", "y", "width", "height", "radius", "size", "line_width")


COLOURS = ("fill", "line", "color")


def _fields_among(names: tuple[str, ...]) -> dict[type, list[str]]:
    kinds = (Rectangle, Polygon, Circle, Line, Label, Raster)
    return {kind: [one.name for one in fields(kind) if one.name in names] for kind in kinds}


LENGTHS_OF, COLOURS_OF = _fields_among(LENGTHS), _fields_among(COLOURS)


def _resolved(mark: Shape, unit: float, theme: str) -> Shape:
    changes: dict[str, Any] = {
        name: color_of(color, theme)
        for name in COLOURS_OF[type(mark)]
        if (color := getattr(mark, name)) and color[0] != "#"
    }
    if unit != 1:
        for name in LENGTHS_OF[type(mark)]:
            changes[name] = getattr(mark, name) * unit
        if isinstance(mark, (Polygon, Line)):
            changes["points"] = tuple((x * unit, y * unit) for x, y in mark.points)
            changes["dashes"] = tuple(length * unit for length in mark.dashes)
    if isinstance(mark, Polygon) and mark.hatch:
        changes["hatch"] = ""
    if isinstance(mark, Raster):
        changes["roles"] = tuple(color_of(role, theme) for role in mark.roles)
    return replace(mark, **changes) if changes else mark


Looks = tuple[str, ...]  # looks of the groups around a mark, outermost first, and its own


class Rules:
    """The rules of a sheet. They replace the looks (CSS classes) of marks by colours and lines."""

    def __init__(self, inks: Sequence[Ink]) -> None:
        found = [
            (len(wanted[-1]) + len(without) + sum(map(len, wanted[:-1])), place, wanted, without)
            for place, ink in enumerate(inks)
            for wanted, without in _selectors(ink.where)
        ]
        self._rules = [(*rule[2:], inks[rule[1]]) for rule in sorted(found, key=lambda x: x[:2])]
        self._known: dict[Looks, Ink] = {}

    def ink(self, looks: Looks) -> Ink:
        """Return the combination of all rules for these looks (CSS classes); specific rules win."""
        if looks in self._known:
            return self._known[looks]
        *outer, own = (frozenset(look.split()) for look in looks)
        found = Ink("")
        for wanted, without, ink in self._rules:
            if not wanted[-1] <= own or without & own:
                continue
            rest = iter(outer)
            if all(any(one <= around for around in rest) for one in wanted[:-1]):
                found = Ink(*(new or old for new, old in zip(ink, found, strict=True)))
        none = {name: "" for name in ("fill", "line", "dashes") if getattr(found, name) == "none"}
        return self._known.setdefault(looks, found._replace(**none))

    def plain(self, mark: Mark, around: Looks) -> Iterator[Shape]:
        """Yield a mark, or the marks of a group; colours and lines replace their CSS classes."""
        look = "" if isinstance(mark, Raster) else mark.look
        own = (*around, look) if look else around
        if isinstance(mark, Group):
            for one in mark.marks if look != WHEN_POINTED else ():
                yield from self.plain(one, own)
            return
        ink = self.ink(own) if look else None
        if isinstance(mark, Rectangle):
            yield from _plain_rectangle(mark, ink)
        elif ink is None:
            yield mark
        elif isinstance(mark, Label):
            color = ink.fill or "text"
            yield Label(mark.x, mark.y, mark.text, mark.size, color, mark.anchor, mark.bold)
        elif isinstance(mark, Line):
            yield from self._plain_line(mark, ink, around)

    def _plain_line(self, mark: Line, ink: Ink, around: Looks) -> Iterator[Shape]:
        width, dashes = mark.line_width or float(ink.line_width or 1), _lengths(ink.dashes)
        if mark.closed:
            yield Polygon(mark.points, ink.fill, ink.line, width, dashes)
        elif ink.line:
            yield Line(mark.points, ink.line, width, dashes, curved=mark.curved)
        for piece in mark.more if ink.line else ():
            yield Line(piece, ink.line, width, dashes)
        if mark.head:
            color = self.ink((*around[:1], f"head {mark.head}")).fill
            yield _arrow_head(mark.points, color)


WHEN_POINTED = "asked"  # the look of a group that is drawn only under the pointer


def _plain_rectangle(mark: Rectangle, ink: Ink | None) -> Iterator[Shape]:
    fill, line, width = mark.fill, mark.line, mark.line_width
    dashes: tuple[float, ...] = ()
    if ink is not None:
        fill, line, dashes = ink.fill, ink.line, _lengths(ink.dashes)
        width = float(ink.line_width or 1)
    if ink is None and not mark.corner:
        yield mark
    elif fill or line:
        points = rounded_outline(mark) if mark.corner else mark.points
        yield Polygon(points, fill, line, width, dashes, curved=bool(mark.corner))


def _lengths(dashes: str) -> tuple[float, ...]:
    return tuple(map(float, dashes.split()))


@cache
def _selectors(where: str) -> list[tuple[list[frozenset[str]], frozenset[str]]]:
    """Return, for each CSS selector, the classes of its elements and those it excludes (:not).

    Examples
    --------
    >>> _selectors(".k-dense .line,text,.frame~.title")
    [([frozenset({'k-dense'}), frozenset({'line'})], frozenset())]
    """
    found = []
    for selector in where.split(","):
        if ":hover" in selector or "~" in selector or not selector.startswith("."):
            continue
        without = frozenset(re.findall(r":not\(\.([\w-]+)\)", selector))
        parts = re.sub(r":not\([^)]*\)", "", selector).split()
        found.append(([frozenset(part.split(".")[1:]) for part in parts], without))
    return found


HEAD_LENGTH, HEAD_HALF, HEAD_BEYOND = 8.0, 3.4, 0.4


def _arrow_head(points: Sequence[Point], color: str) -> Polygon:
    """Return the arrow head at the end of a line, with its tip slightly beyond the last point."""
    (x, y), (x0, y0) = points[-1], next(p for p in reversed(points) if p != points[-1])
    length = math.hypot(x - x0, y - y0)
    u, v = (x - x0) / length, (y - y0) / length
    x, y = x + HEAD_BEYOND * u, y + HEAD_BEYOND * v
    wings = tuple(
        (x - HEAD_LENGTH * u - side * v, y - HEAD_LENGTH * v + side * u)
        for side in (HEAD_HALF, -HEAD_HALF)
    )
    return Polygon(((x, y), *wings), color, "", 0.0)


ROUNDNESS = 0.5523  # position of control points with which four curves form a circle
SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))  # directions of the sides, clockwise from the upper


def rounded_outline(mark: Rectangle) -> tuple[Point, ...]:
    """Return the outline of a rectangle with round corners as Bezier curves.

    Examples
    --------
    >>> rounded_outline(Rectangle(0, 0, 4, 4, corner=1))[:4]
    ((1, 0), (1, 0), (3, 0), (3, 0))
    """
    corner = min(mark.corner, mark.width / 2, mark.height / 2)
    handle = corner * ROUNDNESS
    upper_left, *others = mark.points
    points = [(mark.x + corner, mark.y)]
    for (x, y), (u, v) in zip((*others, upper_left), SIDES, strict=True):
        start, end = (x - corner * u, y - corner * v), (x - corner * v, y + corner * u)
        first, second = (
            (start[0] + handle * u, start[1] + handle * v),
            (end[0] + handle * v, end[1] - handle * u),
        )
        points += [points[-1], start, start, first, second, end]
    return tuple(points)


def flattened(points: Sequence[Point], pieces: int = 10) -> Iterator[Point]:
    """Yield points along cubic Bezier curves: `pieces` points on each curve."""
    yield points[0]
    for a, b, c, d in zip(points[::3], points[1::3], points[2::3], points[3::3], strict=False):
        for step in range(1, pieces + 1):
            t = step / pieces
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            pairs = [*zip(shares, (a, b, c, d), strict=True)]
            yield sum(s * x for s, (x, _) in pairs), sum(s * y for s, (_, y) in pairs)


def cells(raster: Raster) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the cells of a raster for each colour role; equal neighbours are one rectangle.

    Yields
    ------
    role : str
    rectangles : array, shape (number, 4), float
        The left, upper, right and lower edge of each rectangle.

    Examples
    --------
    >>> levels = np.array([[0, 0, 1]], "uint8")
    >>> [(role, ends.tolist()) for role, ends in cells(Raster(0, 0, 3, 1, levels, ("a", "b"), ""))]
    [('a', [[0.0, 0.0, 2.0, 1.0]]), ('b', [[2.0, 0.0, 3.0, 1.0]])]
    """
    rows, columns = raster.levels.shape
    begins = np.ones((rows, columns), bool)
    begins[:, 1:] = raster.levels[:, 1:] != raster.levels[:, :-1]
    first = np.flatnonzero(begins)
    row = first // columns
    end = np.append(first[1:], rows * columns) - row * columns
    levels = raster.levels.ravel()[first]
    wide, high = raster.width / columns, raster.height / rows
    left, right = raster.x + (first % columns) * wide, raster.x + end * wide
    ends = np.stack([left, raster.y + row * high, right, raster.y + (row + 1) * high], axis=1)
    for level in np.unique(levels).tolist():
        yield raster.roles[level], ends[levels == level]


def moved(mark: Shape, x: float, y: float) -> Shape:
    """Return a mark shifted right by x and down by y."""
    if isinstance(mark, (Polygon, Line)):
        return replace(mark, points=tuple((a + x, b + y) for a, b in mark.points))
    return replace(mark, x=mark.x + x, y=mark.y + y)


def mute(mark: Mark) -> Mark:
    """Return a mark without tooltips, data and labels, for pictures that are not interactive."""
    if isinstance(mark, Group):
        marks = tuple(map(mute, mark.marks))
        return replace(mark, marks=marks, data=None, label=None, tooltip="")
    if isinstance(mark, Raster):
        return mark
    if isinstance(mark, Line):
        return replace(mark, data=None, tooltip="")
    return replace(mark, data=None)


def padded_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text plus 12 percent, which wider fonts may need."""
    return text_width(text, size, bold) * 1.12


def data_of(layers: Sequence[str], shape: str = "", **more: str) -> Data:
    """Return the data attributes of a mark that represents layers, without empty values."""
    found = {"layers": "\n".join(layers), "shape": shape, **more}
    return {key: value for key, value in found.items() if value}


# --- patterns -------------------------------------------------------------------------------------

# Directions of lines in degrees, and their distances in points.
HATCHES = {
    "rising": ((-45.0, 2.4),),
    "falling": ((45.0, 2.4),),
    "level": ((0.0, 2.2),),
    "upright": ((90.0, 2.2),),
    "crossed": ((45.0, 3.0), (-45.0, 3.0)),
}


def hatching(points: Sequence[Point], hatch: str) -> Iterator[tuple[Point, Point]]:
    """Yield the lines of the pattern `hatch`, a key of `HATCHES`, inside a convex outline.

    Examples
    --------
    >>> [*hatching(((0, 0), (4, 0), (4, 3), (0, 3)), "level")]
    [((0.0, 2.2), (4.0, 2.2))]
    """
    for degrees, gap in HATCHES[hatch]:
        u, v = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        across = [y * u - x * v for x, y in points]
        for number in range(math.ceil(min(across) / gap), math.ceil(max(across) / gap)):
            offset = number * gap
            cuts = sorted(_cuts(points, across, offset), key=lambda cut: cut[0] * u + cut[1] * v)
            if len(cuts) >= 2 and cuts[0] != cuts[-1]:
                yield cuts[0], cuts[-1]


def _cuts(points: Sequence[Point], across: Sequence[float], offset: float) -> Iterator[Point]:
    """Yield the points at which a line of the pattern crosses the outline."""
    for i, ((x0, y0), a0) in enumerate(zip(points, across, strict=True)):
        (x1, y1), a1 = points[(i + 1) % len(points)], across[(i + 1) % len(points)]
        if min(a0, a1) < offset < max(a0, a1):
            share = (offset - a0) / (a1 - a0)
            yield round(x0 + (x1 - x0) * share, 3), round(y0 + (y1 - y0) * share, 3)

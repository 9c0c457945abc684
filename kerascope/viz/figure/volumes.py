"""The form "volumes": a chain of convolutions as boxes (AlexNet, VGG) or as sheets (LeNet).

The front of a volume is as high as its image, its depth is the image's width, and it is as thick as
it has channels; a row of numbers is a bar. Sides are compressed (by the square root, channels by
the logarithm), so that an image of 5 x 5 beside one of 224 x 224 can still be seen; what they are
stands below. With few channels each channel is a sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from kerascope.errors import ArgumentError
from kerascope.viz.figure.legends import Entry, key_of_kinds, place_key
from kerascope.viz.figure.marks import SMALLEST, Canvas, Page, fitting_size
from kerascope.viz.figure.reading import (
    TIMES,
    Part,
    Reading,
    has_own_name,
    shape_text,
    sides_of,
)
from kerascope.viz.figure.words import words_of
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Data, Polygon, Sheet, data_of
from kerascope.viz.writers.svg import MILLIMETRE as POINTS_PER_MM

IMAGES = ("convolution", "pooling", "upsampling")
MOST_SHEETS = 16  # channels that are drawn one by one
SLANT = 0.35  # how far the depth of a volume goes to the right and up
PAD = 2.5  # between labels
OTHER_FONT = 1.12  # where Helvetica is not at hand, what stands for it may be wider


def suits(reading: Reading) -> bool:
    """Tell whether a model is one row of layers, convolutions or poolings among them."""
    chain = reading.chain
    drawn = {*IMAGES, "dense", "input", "shaping"}
    return bool(
        chain
        and any(part.kind in IMAGES for part in chain)
        and all(part.kind in drawn and part.shape for part in chain)
    )


@dataclass(frozen=True)
class VolumeColumn:
    """Volumes beside each other that have one shape and one label.

    Attributes
    ----------
    label : tuple of str
        Lines below.
    lowered : bool, optional
        Where labels take turns in two rows: whether it stands in the lower one.
    side, depth, thick : float
        Height of the front, slant of the depth, width of one volume, in points.
    """

    parts: tuple[Part, ...]
    sheets: bool = False
    label: tuple[str, ...] = ()
    lowered: bool | None = None
    side: float = 0.0
    depth: float = 0.0
    thick: float = 0.0

    @property
    def first(self) -> Part:
        """The first of its layers."""
        return self.parts[0]

    @property
    def flat(self) -> bool:
        """Whether it is a row of numbers."""
        return not sides_of(self.first.shape)[0]

    @property
    def channels(self) -> int:
        """Number of channels, or of numbers."""
        return sides_of(self.first.shape)[1]

    @property
    def body(self) -> float:
        """Width of what is drawn, without the depth."""
        if self.sheets and not self.flat:
            return self.side + (self.channels - 1) * self.thick
        return len(self.parts) * self.thick + (len(self.parts) - 1) * 1.6

    @property
    def advance(self) -> float:
        """What it takes of the width."""
        words = self.words if self.lowered is None else self.words * 0.55
        return max(self.body + self.depth * 0.6, words) + PAD

    @property
    def words(self) -> float:
        """How wide its label is at least."""
        return max(text_width(line, SMALLEST) for line in self.label) * OTHER_FONT


def volumes(reading: Reading, page: Page) -> Sheet:
    """Draw a chain of convolutions, poolings and dense layers."""
    columns = _columns(reading)
    columns = _fitting(columns, page)
    canvas = Canvas(page)
    first = columns[0]  # a slanted one reaches farther than what it takes of the width
    over = max(0.0, (first.body + first.depth - first.advance) / 2)
    room = page.width - over - sum(column.advance for column in columns)
    gap = min((room - 2.4) / len(columns), 26.0)
    left = over + (room - gap * len(columns)) / 2 + gap / 2
    tall = max(_height(column) for column in columns)
    named = columns[0].sheets and _names_fit(columns, gap)
    top = 13.0 if named else 3.0
    middle = top + tall / 2
    places = []
    for column in columns:
        places.append(left + column.advance / 2)
        left += column.advance + gap
    base = top + tall + page.size + 2.0
    size = min(_label_size(column, page) for column in columns)
    for column, x in zip(columns, places, strict=True):
        _draw(canvas, column, x, middle)
        _label(canvas, column, x, base, size)
        if named:
            name = _name(column.first)
            canvas.words(x, 8.0, name, size=_name_size(column, name, gap), bold=True)
    _joints(canvas, columns, places, middle)
    lines = max(len(c.label) * (2 if c.lowered else 1) for c in columns)
    bottom = base + (lines - 1) * (page.size + 0.8) + 3.0
    if named and not page.narrow:
        bottom = _steps(canvas, columns, places, bottom + SMALLEST + 1.0)
    parts = [part for column in columns for part in column.parts]
    if not columns[0].sheets or not named:
        bottom = place_key(canvas, key_of_kinds(parts), bottom)
    return canvas.sheet(bottom, _legend(columns, parts, page))


def _columns(reading: Reading) -> list[VolumeColumn]:
    """Return the volumes, those of one kind and one shape together."""
    parts = reading.chain or []

    def alike(part: Part) -> object:
        return part.kind, part.shape, (part.node.id if part.kind not in IMAGES else "")

    columns = [VolumeColumn(tuple(group)) for _, group in groupby(parts, alike)]
    images = [column for column in columns if not column.flat]
    sheets = all(c.channels <= MOST_SHEETS and len(c.parts) == 1 for c in images)
    square = all(len(sides_of(c.first.shape)[0]) == 2 for c in images)
    return [replace(column, sheets=sheets and square) for column in columns]


# --- sizes ----------------------------------------------------------------------------------------


def _fitting(columns: list[VolumeColumn], page: Page) -> list[VolumeColumn]:
    """Return the columns as large, and with labels as long, as the width allows."""
    found = _fit(columns, page)
    if found:
        return found
    low = least = page.width
    while not _fit(columns, replace(page, width=least)):
        low, least = least, 2 * least
    while least - low > POINTS_PER_MM:  # each try lays all volumes out
        middle = (low + least) / 2
        if _fit(columns, replace(page, width=middle)):
            least = middle
        else:
            low = middle
    raise ArgumentError(
        f"draw: a figure of {len(columns)} volumes, each with its size, is not "
        f"{page.width / POINTS_PER_MM:.0f} mm wide; expected a width of at least "
        f"{math.ceil(least / POINTS_PER_MM)} mm. Give that, or figure='blocks', which joins "
        f"layers that repeat."
    )


def _fit(columns: list[VolumeColumn], page: Page) -> list[VolumeColumn] | None:
    greatest = _greatest(columns)
    ways = [(_in_one_line, False), (_in_two_lines, False), (_as_square, False), (_as_square, True)]
    for labels, in_turns in ways:
        labelled = [
            replace(column, label=labels(column), lowered=bool(number % 2) if in_turns else None)
            for number, column in enumerate(columns)
        ]
        room = page.width - 2.0 - 1.5 * len(columns)
        percents = range(100, 30 if in_turns else 65, -5)
        if _long(labelled, greatest, page, percents[-1])[0] > room:
            continue
        for percent in percents:
            long, sized = _long(labelled, greatest, page, percent)
            if long <= room:
                return sized
    return None


def _long(
    columns: list[VolumeColumn], greatest: _Greatest, page: Page, percent: int
) -> tuple[float, list[VolumeColumn]]:
    """Return how long columns of some size are together, and the columns."""
    sized = [_sized(column, greatest, page, percent / 100) for column in columns]
    return sum(column.advance for column in sized), sized


class _Greatest(NamedTuple):
    """The longest side of all images, and the longest row of numbers."""

    side: int
    row: int


def _greatest(columns: list[VolumeColumn]) -> _Greatest:
    images = [sides_of(column.first.shape)[0] for column in columns if not column.flat]
    rows = [column.channels for column in columns if column.flat]
    return _Greatest(max(max(sides) for sides in images), max(rows, default=1))


def _sized(column: VolumeColumn, all_of_them: _Greatest, page: Page, scale: float) -> VolumeColumn:
    greatest, most = all_of_them
    high = (46.0 if page.narrow else 76.0) * scale
    sides, channels = sides_of(column.first.shape)
    if not sides:
        share = math.log2(channels + 1) / math.log2(most + 1)
        thick = 5.0 if page.narrow else 8.0
        return replace(column, side=high * (0.25 + 0.75 * share), thick=thick)
    side = max(high * math.sqrt(sides[0] / greatest), 5.0) if len(sides) > 1 else 10.0
    if column.sheets:
        off = 1.6 if channels > 8 else 2.4
        return replace(column, side=side, thick=off * (0.62 if page.narrow else 1.0) * scale)
    thick = max(1.8, math.log2(channels + 1) * (0.62 if page.narrow else 1.05) * scale)
    if len(sides) == 1:  # a sequence: as long as it is high in a picture of images
        side = max(high * math.sqrt(sides[0] / greatest), 5.0)
        return replace(column, side=side, thick=thick)
    depth = max(high * math.sqrt(sides[1] / greatest), 5.0) * SLANT
    return replace(column, side=side, depth=depth, thick=thick)


def _height(column: VolumeColumn) -> float:
    if column.sheets and not column.flat:
        return column.side + (column.channels - 1) * column.thick
    return column.side + column.depth


def _in_one_line(column: VolumeColumn) -> tuple[str, ...]:
    return (shape_text(column.first.shape),)


def _in_two_lines(column: VolumeColumn) -> tuple[str, ...]:
    shape = column.first.shape or ()
    if len(shape) < 3:
        return _in_one_line(column)
    return shape_text(shape[:-1]), f"{TIMES}{shape_text(shape[-1:])}"


def _as_square(column: VolumeColumn) -> tuple[str, ...]:
    shape = column.first.shape or ()
    if len(shape) == 3 and shape[0] == shape[1] and shape[0]:
        return f"{shape[0]}\u00b2", f"{TIMES}{shape_text(shape[2:])}"
    return _in_two_lines(column)


# --- drawing --------------------------------------------------------------------------------------


def _draw(canvas: Canvas, column: VolumeColumn, x: float, middle: float) -> None:
    """Draw the volumes of a column around x."""
    if column.sheets and not column.flat:
        return _draw_sheets(canvas, column, x, middle)
    left = x - (column.body + column.depth) / 2
    for part in column.parts:
        data = data_of(part.members, shape_text(part.shape))
        if column.flat:
            _draw_bar(canvas, column, part.kind, left, middle, data)
        else:
            _draw_solid(canvas, column, part.kind, left, middle, data)
        left += column.thick + 1.6
    return None


def _draw_bar(
    canvas: Canvas, column: VolumeColumn, kind: str, x: float, middle: float, data: Data
) -> None:
    top = middle - column.side / 2
    canvas.rect(x, top, column.thick, column.side, kind, data=data)
    _, line, hatch = canvas.look.box(kind)
    cells = int(column.side / 5.0)
    for cell in range(1, 0 if hatch else cells):
        y = top + column.side * cell / cells
        canvas.line(((x, y), (x + column.thick, y)), color=line, width=0.35, head=False)


def _draw_solid(
    canvas: Canvas, column: VolumeColumn, kind: str, x: float, middle: float, data: Data
) -> None:
    front, top, side = canvas.look.shades(kind)
    _, line, hatch = canvas.look.box(kind)
    depth, right = column.depth, x + column.thick
    high = middle - column.side / 2 + depth / 2
    low = high + column.side
    faces = [
        (((x, high), (x + depth, high - depth), (right + depth, high - depth), (right, high)), top),
        (
            ((right, high), (right + depth, high - depth), (right + depth, low - depth),
             (right, low)),
            side,
        ),
    ]  # fmt: skip
    for points, fill in faces if depth else []:
        canvas.marks.append(Polygon(points, fill, line, 0.5))
    points = ((x, high), (right, high), (right, low), (x, low))
    canvas.marks.append(Polygon(points, front, line, 0.6, (), hatch, data))


def _draw_sheets(canvas: Canvas, column: VolumeColumn, x: float, middle: float) -> None:
    part = column.first
    shift = (column.channels - 1) * column.thick
    left, top = x - (column.side + shift) / 2, middle - (column.side - shift) / 2
    for sheet in range(column.channels - 1, -1, -1):
        off = sheet * column.thick
        data = data_of(part.members, shape_text(part.shape))
        canvas.rect(
            left + off,
            top - off,
            column.side,
            column.side,
            part.kind,
            line_width=0.55,
            data=data if sheet == 0 else None,
        )


def _label(canvas: Canvas, column: VolumeColumn, x: float, base: float, size: float) -> None:
    """Write the shape of a column's volumes below them."""
    layers = [member for part in column.parts for member in part.members]
    pitch = canvas.page.size + 0.8
    if column.lowered:
        edge = base - canvas.page.size
        canvas.line(((x, edge), (x, edge + 2 * pitch)), color=canvas.look.thin, head=False)
        base += 2 * pitch
    for row, line in enumerate(column.label):
        canvas.words(x, base + row * pitch, line, size=size, data=data_of(layers, line=str(row)))


def _label_size(column: VolumeColumn, page: Page) -> float:
    room = (column.advance * (1 if column.lowered is None else 1.8) - PAD) / OTHER_FONT
    sizes = [fitting_size(line, room, page.size) or SMALLEST for line in column.label]
    return min(sizes)


# --- names and windows ----------------------------------------------------------------------------


def _name(part: Part) -> str:
    if has_own_name(part.node):
        return {"output": "out"}.get(part.node.label, part.node.label)
    return {"convolution": "conv", "pooling": "pool", "upsampling": "up"}.get(part.kind, part.kind)


def _name_size(column: VolumeColumn, name: str, gap: float) -> float | None:
    return fitting_size(name, (column.advance + gap - 1.0) / OTHER_FONT, 7.4, True)


def _names_fit(columns: list[VolumeColumn], gap: float) -> bool:
    return all(_name_size(column, _name(column.first), gap) for column in columns)


def _joints(
    canvas: Canvas, columns: list[VolumeColumn], places: list[float], middle: float
) -> None:
    """Draw what leads from one column to the next: the window of an op, or an arrow."""
    for before, after, x0, x1 in zip(columns, columns[1:], places, places[1:], strict=False):
        if before.sheets and not before.flat and not after.flat:
            _window(canvas, before, after, x0, x1, middle)
            continue
        start = x0 + (before.body + before.depth) / 2
        if before.depth:  # at half its height the slanted side is nearer
            start -= before.depth / 2
        end = x1 - (after.body + after.depth) / 2
        if end - start >= (5.0 if before.flat or before.sheets else 8.0):
            space = min(1.5, (end - start) / 5)
            canvas.line(((start + space, middle), (end - space, middle)))


def _steps(canvas: Canvas, columns: list[VolumeColumn], places: list[float], line: float) -> float:
    """Write below what leads from one column to the next, where there is room; return the end."""
    taken = 0.0
    for after, x0, x1 in zip(columns[1:], places, places[1:], strict=False):
        part = after.first
        words = "dense" if part.kind == "dense" else words_of(part)[0].split(",")[0]
        left = (x0 + x1 - text_width(words, SMALLEST) * OTHER_FONT) / 2
        if left > taken:
            middle, data = (x0 + x1) / 2, data_of((), says="step")
            canvas.words(middle, line, words, size=SMALLEST, quiet=True, data=data)
            taken = x0 + x1 - left + PAD
    return line + 3.0


def _window(
    canvas: Canvas, before: VolumeColumn, after: VolumeColumn, x0: float, x1: float, middle: float
) -> None:
    """Draw what one number of the next volume is computed from."""

    def corner(column: VolumeColumn, x: float) -> tuple[float, float]:
        shift = (column.channels - 1) * column.thick
        return x - (column.side + shift) / 2, middle - (column.side - shift) / 2

    (left, top), (next_left, next_top) = corner(before, x0), corner(after, x1)
    sides, _ = sides_of(before.first.shape)
    window = next(iter(after.first.window.split(TIMES)), "")
    wide = before.side * (int(window) / sides[0]) if window else before.side * 0.2
    wide = min(max(wide, 3.0), before.side * 0.6)
    x, y = left + before.side * 0.9 - wide, top + before.side * 0.5 - wide / 2
    to = next_left + after.side * 0.3, next_top + after.side * 0.62
    ink, ground = canvas.look.text, canvas.look.ground
    points = ((x, y), (x + wide, y), (x + wide, y + wide), (x, y + wide))
    canvas.marks.append(Polygon(points, ground, ink, 0.6))
    for start in (y, y + wide):
        canvas.line(((x + wide, start), to), color=ink, width=0.4, head=False)
    canvas.circle(*to, 0.9, ink, ink)


def _legend(columns: list[VolumeColumn], parts: list[Part], page: Page) -> str:
    return " ".join(_sentences(columns, parts))


def _sentences(columns: list[VolumeColumn], parts: list[Part]) -> Iterator[str]:
    if columns[0].sheets:
        yield "Each sheet is a feature map, each bar a row of numbers;"
        yield "below are height \u00d7 width \u00d7 channels of what each layer gives."
    else:
        axes = max(len(sides_of(column.first.shape)[0]) for column in columns)
        said = "length" if axes == 1 else " \u00d7 ".join(("depth", "height", "width")[-axes:])
        yield "Each volume is what a layer gives;"
        yield f"below are its {said} \u00d7 channels (of bars the number of units)."
        grow = "Height and depth grow with the square root of the image's sides,"
        yield "Height grows with the square root of the length," if axes == 1 else grow
        yield "thickness with the"
        yield "logarithm of the number of channels."
    squares = [column.label[0] for column in columns if column.label[0].endswith("\u00b2")]
    if squares:
        side = squares[0].rstrip("\u00b2")
        yield f"{squares[0]} stands for {side}{TIMES}{side}."
    windows = dict.fromkeys(f"{part.window} {part.kind}" for part in parts if part.window)
    if windows:
        yield f"Windows: {', '.join(windows)}."
    names = [Entry(kind, words) for kind, words in key_of_kinds(parts)]
    yield f"Kinds: {'; '.join(name.words for name in names)}."

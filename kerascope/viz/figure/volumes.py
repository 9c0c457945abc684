"""The form "volumes": a chain of convolutions as boxes (AlexNet, VGG) or as sheets (LeNet).

The height and the depth of a volume are the sides of its image, its thickness is the number of
channels; a vector is a bar. Sides are drawn by their square root and channels by their logarithm,
so that an image of 5 x 5 is visible next to one of 224 x 224; the label below has the true sizes.
If there are few channels, each channel is a sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from kerascope.viz.figure.drawer import FigureLayout
from kerascope.viz.figure.legends import KeyEntry, key_of_kinds
from kerascope.viz.figure.living import chart, chart_size, image_marks
from kerascope.viz.figure.marks import SMALLEST, Page, arrow, box, fitting_size, too_narrow, words
from kerascope.viz.figure.reading import TIMES, Part, Reading, has_own_name, members_of, shape_text
from kerascope.viz.figure.words import words_of
from kerascope.viz.sheet import Circle, Point, Polygon, Rectangle, Shape, data_of, padded_width

IMAGES = ("convolution", "pooling", "upsampling")
MOST_SHEETS = 16  # channels that are drawn one by one
SLANT = 0.35  # how far the depth of a volume goes to the right and up
PAD = 2.5  # between labels
SPACE = 1.6  # between volumes of one column


def suits(reading: Reading) -> bool:
    """Return whether a model is a chain with convolutions or poolings."""
    chain = reading.chain
    drawn = {*IMAGES, "dense", "input", "shaping"}
    return bool(
        chain
        and any(part.kind in IMAGES for part in chain)
        and all(part.kind in drawn and part.shape for part in chain)
    )


@dataclass(frozen=True)
class VolumeColumn:
    """A column: neighbouring volumes that have the same shape and share one label.

    Attributes
    ----------
    parts : tuple of Part
    sheets : bool
        Whether the figure draws each channel of an image as a separate square, a sheet.
    label : tuple of str
        The lines of text below the volumes.
    lowered : bool, optional
        Whether this label is in the lower row, if labels alternate between two rows.
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
        """The first part of the column."""
        return self.parts[0]

    @property
    def flat(self) -> bool:
        """Whether the output of the column's parts is a vector, which is drawn as a bar."""
        return not self.first.sides

    @property
    def shift(self) -> float:
        """How far the last channel's square is right of and above the first; 0 without squares."""
        is_stack = self.sheets and not self.flat
        return (self.sheet_count - 1) * self.thick if is_stack else 0.0

    @property
    def sheet_count(self) -> int:
        """The number of drawn sheets: the channels or, in a living figure, the drawn maps."""
        portrait = self.first.portrait
        return len(portrait.images) if portrait else self.first.channels

    @property
    def body(self) -> float:
        """The width of the column's volumes without their slanted depth."""
        if self.sheets and not self.flat:
            return self.side + self.shift
        return len(self.parts) * (self.thick + SPACE) - SPACE

    @property
    def height(self) -> float:
        """The height of the column's volumes with their slanted depth."""
        return self.side + self.shift + self.depth

    @property
    def label_width(self) -> float:
        """The minimum width of the column's label."""
        return max(padded_width(line, SMALLEST) for line in self.label)

    @property
    def advance(self) -> float:
        """The horizontal space that the column takes."""
        label = self.label_width * (1.0 if self.lowered is None else 0.55)
        return max(self.body + self.depth * 0.6, label) + PAD

    def corner(self, x: float, middle: float) -> Point:
        """Return the upper left corner of the first sheet of a column centred at (x, middle).

        A sheet is the square that represents one channel.
        """
        return x - (self.side + self.shift) / 2, middle - (self.side - self.shift) / 2


def volumes(reading: Reading, page: Page) -> FigureLayout:
    """Return the layout of a chain of convolutions, poolings and dense layers."""
    columns = _fitting(_columns(reading), page)
    first = columns[0]  # a slanted volume is wider than its share of the page
    over = max(0.0, (first.body + first.depth - first.advance) / 2)
    room = page.width - over - sum(column.advance for column in columns)
    gap = min((room - 2.4) / len(columns), 26.0)
    left = over + (room - gap * len(columns)) / 2 + gap / 2
    tall = max(column.height for column in columns)
    named = first.sheets and _names_fit(columns, gap)
    top = 13.0 if named else 3.0
    middle = top + tall / 2
    places = []
    for column in columns:
        places.append(left + column.advance / 2)
        left += column.advance + gap
    base = top + tall + page.size + 2.0
    size = min(_label_size(column, page) for column in columns)
    marks: list[Shape] = []
    for column, x in zip(columns, places, strict=True):
        marks += _volumes(column, x, middle, page)
        marks += _label(column, x, base, size, page)
        if named:
            name = _name(column.first)
            marks.append(words(x, 8.0, name, _name_size(column, name, gap) or 0.0, bold=True))
    marks += _joints(columns, places, middle)
    lines = max(len(c.label) * (2 if c.lowered else 1) for c in columns)
    bottom = base + (lines - 1) * (page.size + 0.8) + 3.0
    if named and not page.narrow:
        marks += _steps(columns, places, bottom + SMALLEST + 1.0)
        bottom += SMALLEST + 4.0
    parts = [part for column in columns for part in column.parts]
    key = key_of_kinds(parts)
    sentences = [*_sentences(columns, parts, key)]
    return FigureLayout(marks, bottom, sentences, [] if named else key)


def _columns(reading: Reading) -> list[VolumeColumn]:
    """Return the columns of a chain. Neighbouring parts of one kind and shape share a column."""
    parts = reading.chain or []

    def alike(part: Part) -> object:
        return part.kind, part.shape, (part.node.id if part.kind not in IMAGES else "")

    columns = [VolumeColumn(tuple(group)) for _, group in groupby(parts, alike)]
    images = [column for column in columns if not column.flat]
    if reading.is_living:  # each layer has images of its own
        columns = [VolumeColumn((part,)) for part in parts]
        images = [column for column in columns if not column.flat]
    sheets = all(c.sheet_count <= MOST_SHEETS and len(c.parts) == 1 for c in images)
    square = all(len(c.first.sides) == 2 or _has_slices(c.first) for c in images)
    return [
        replace(column, sheets=square and (sheets or bool(column.first.portrait)))
        for column in columns
    ]


# --- sizes ----------------------------------------------------------------------------------------


def _fitting(columns: list[VolumeColumn], page: Page) -> list[VolumeColumn]:
    """Return the columns with the largest sizes and the longest labels that the page allows.

    Raises
    ------
    ArgumentError
        The page is too narrow.
    """
    sized, long = _fit(columns, page)
    if long <= page.width:
        return sized
    least = max(long, _fit(columns, replace(page, width=long))[1])  # a wide page has larger volumes
    raise too_narrow(f"{len(columns)} volumes, each with its size,", page, least)


def _fit(columns: list[VolumeColumn], page: Page) -> tuple[list[VolumeColumn], float]:
    """Return the columns and their total length, in the largest sizes that fit the page.

    If no sizes fit, the smallest are used.
    """
    side = max(side for column in columns for side in column.first.sides)
    row = max((column.first.channels for column in columns if column.flat), default=1)
    for way, in_turns in ((0, False), (1, False), (2, False), (2, True)):
        labelled = [
            replace(
                column,
                label=_labels(column.first)[way],
                lowered=bool(number % 2) if in_turns else None,
            )
            for number, column in enumerate(columns)
        ]
        for percent in range(100, 30 if in_turns else 65, -5):
            sized = [_sized(column, page, percent / 100, side, row) for column in labelled]
            long = sum(column.advance for column in sized) + 2.0 + 1.5 * len(columns)
            if long <= page.width:
                return sized, long
    return sized, long


def _labels(part: Part) -> tuple[tuple[str, ...], ...]:
    """Return three labels with a part's shape: in one line, in two lines, in two shorter lines."""
    shape = part.shape or ()
    whole = (shape_text(shape),)
    if len(shape) < 3:
        return whole, whole, whole
    channels = f"{TIMES}{shape_text(shape[-1:])}"
    two = shape_text(shape[:-1]), channels
    square = len(shape) == 3 and shape[0] == shape[1] and shape[0]
    return whole, two, (f"{square}\u00b2", channels) if square else two


def _sized(column: VolumeColumn, page: Page, scale: float, side: int, row: int) -> VolumeColumn:
    """Return a column with the sizes of its volumes in points.

    `side` is the longest side of all images, `row` the length of the longest vector.
    """
    high = (46.0 if page.narrow else 76.0) * scale
    sides, channels = column.first.sides, column.first.channels
    portrait = column.first.portrait
    if portrait and portrait.bars:
        width, height = chart_size(portrait, page)
        return replace(column, side=height, thick=width)
    if not sides:
        share = math.log2(channels + 1) / math.log2(row + 1)
        thick = 5.0 if page.narrow else 8.0
        return replace(column, side=high * (0.25 + 0.75 * share), thick=thick)
    lengths = [max(high * math.sqrt(length / side), 5.0) for length in sides]
    if column.sheets:
        thick = (1.6 if channels > 8 else 2.4) * (0.62 if page.narrow else 1.0) * scale
        if column.first.portrait:
            thick *= 2.0
        return replace(column, side=lengths[-2], thick=thick)
    thick = max(1.8, math.log2(channels + 1) * (0.62 if page.narrow else 1.05) * scale)
    depth = lengths[1] * SLANT if len(sides) > 1 else 0.0
    return replace(column, side=lengths[0], depth=depth, thick=thick)


# --- marks ----------------------------------------------------------------------------------------


def _has_slices(part: Part) -> bool:
    """Return whether the slices of a volume are drawn in a living figure."""
    return bool(part.portrait and part.portrait.kind == "maps")


def _volumes(column: VolumeColumn, x: float, middle: float, page: Page) -> Iterator[Shape]:
    """Yield the marks of a column's volumes, with the column centred at x."""
    if column.sheets and not column.flat:
        left, top = column.corner(x, middle)
        for sheet in range(column.sheet_count - 1, -1, -1):
            place, off = (column.side, column.side), sheet * column.thick
            data = None if sheet else column.first.data
            kind = column.first.kind
            if portrait := column.first.portrait:
                image = portrait.images[sheet]
                yield from image_marks(column.first, image, left + off, top - off, *place)
                continue
            yield box(left + off, top - off, *place, kind, data, line_width=0.55)
        return
    left = x - (column.body + column.depth) / 2
    for part in column.parts:
        yield from (_bar if column.flat else _solid)(column, part, left, middle, page)
        left += column.thick + SPACE


def _bar(column: VolumeColumn, part: Part, x: float, middle: float, page: Page) -> Iterator[Shape]:
    top = middle - column.side / 2
    if part.portrait and part.portrait.bars:
        yield from chart(part, x, top, column.thick, page)
        return
    if part.portrait:
        image = part.portrait.images[0]
        image = replace(image, levels=image.levels.T)
        yield from image_marks(part, image, x, top, column.thick, column.side)
        return
    yield box(x, top, column.thick, column.side, part.kind, part.data)
    cells = int(column.side / 5.0)
    for cell in range(1, cells):
        y = top + column.side * cell / cells
        ends = (x, y), (x + column.thick, y)
        yield arrow(*ends, color=f"cells {part.kind}", width=0.35, head=False)


def _solid(
    column: VolumeColumn, part: Part, x: float, middle: float, page: Page
) -> Iterator[Shape]:
    """Yield three polygons: the top, the side and the front of a volume."""
    depth, right, line = column.depth, x + column.thick, f"line {part.kind}"
    high = middle - column.side / 2 + depth / 2
    low = high + column.side
    if depth:
        back, back_right = x + depth, right + depth
        top = (x, high), (back, high - depth), (back_right, high - depth), (right, high)
        side = (right, high), (back_right, high - depth), (back_right, low - depth), (right, low)
        yield Polygon(top, f"top {part.kind}", line, 0.5)
        yield Polygon(side, f"side {part.kind}", line, 0.5)
    if part.portrait and len(part.sides) == 1:
        image = part.portrait.images[0]
        image = replace(image, levels=image.levels.T)  # its length is the height of the volume
        yield from image_marks(part, image, x, high, column.thick, column.side)
        return
    yield box(x, high, column.thick, column.side, part.kind, part.data, line_width=0.6)


def _label(column: VolumeColumn, x: float, base: float, size: float, page: Page) -> Iterator[Shape]:
    """Yield the label with the shape of a column's volumes, below these volumes."""
    layers = members_of(column.parts)
    pitch = page.size + 0.8
    if column.lowered:
        edge = base - page.size
        yield arrow((x, edge), (x, edge + 2 * pitch), color="thin", head=False)
        base += 2 * pitch
    for row, line in enumerate(column.label):
        yield words(x, base + row * pitch, line, size, data=data_of(layers, line=str(row)))


def _label_size(column: VolumeColumn, page: Page) -> float:
    room = column.advance * (1 if column.lowered is None else 1.8) - PAD
    return min(fitting_size(line, room, page.size) or SMALLEST for line in column.label)


# --- names and windows ----------------------------------------------------------------------------


def _name(part: Part) -> str:
    if has_own_name(part.node):
        return {"output": "out"}.get(part.node.label, part.node.label)
    return {"convolution": "conv", "pooling": "pool", "upsampling": "up"}.get(part.kind, part.kind)


def _name_size(column: VolumeColumn, name: str, gap: float) -> float | None:
    return fitting_size(name, column.advance + gap - 1.0, 7.4, True)


def _names_fit(columns: list[VolumeColumn], gap: float) -> bool:
    return all(_name_size(column, _name(column.first), gap) for column in columns)


def _joints(columns: list[VolumeColumn], places: list[float], middle: float) -> Iterator[Shape]:
    """Yield the marks between neighbouring columns: windows between volumes, else arrows."""
    for before, after, x0, x1 in zip(columns, columns[1:], places, places[1:], strict=False):
        if before.sheets and not before.flat and not after.flat:
            yield from _window(before, after, x0, x1, middle)
            continue
        start = x0 + (before.body + before.depth) / 2
        if before.depth:  # at half its height, the slanted side is nearer to the next volume
            start -= before.depth / 2
        end = x1 - (after.body + after.depth) / 2
        if end - start >= (5.0 if before.flat or before.sheets else 8.0):
            space = min(1.5, (end - start) / 5)
            yield arrow((start + space, middle), (end - space, middle))


def _steps(columns: list[VolumeColumn], places: list[float], line: float) -> Iterator[Shape]:
    """Yield labels with the names of layers, each below the gap before its column.

    A label that would overlap the label before it is omitted.
    """
    taken = 0.0
    for after, x0, x1 in zip(columns[1:], places, places[1:], strict=False):
        part = after.first
        name = "dense" if part.kind == "dense" else words_of(part)[0].split(",")[0]
        left = (x0 + x1 - padded_width(name, SMALLEST)) / 2
        if left > taken:
            data = data_of((), says="step")
            yield words((x0 + x1) / 2, line, name, SMALLEST, quiet=True, data=data)
            taken = x0 + x1 - left + PAD


def _window(
    before: VolumeColumn, after: VolumeColumn, x0: float, x1: float, middle: float
) -> Iterator[Shape]:
    """Yield a window on one volume, and lines from the window to an element of the next volume."""
    (left, top), (next_left, next_top) = (
        column.corner(x, middle) for column, x in ((before, x0), (after, x1))
    )
    window = after.first.window.split(TIMES)[-2:][0]  # of a volume, that of its slices
    wide = before.side * (int(window) / before.first.sides[-2] if window else 0.2)
    wide = min(max(wide, 3.0), before.side * 0.6)
    x, y = left + before.side * 0.9 - wide, top + before.side * 0.5 - wide / 2
    to = next_left + after.side * 0.3, next_top + after.side * 0.62
    fill = "ground"
    if before.first.portrait:  # the window is seen on dark images too
        fill = ""
        yield Rectangle(x, y, wide, wide, "", "ground", 1.8)
    yield Rectangle(x, y, wide, wide, fill, "text", 0.6)
    for start in (y, y + wide):
        yield arrow((x + wide, start), to, color="text", width=0.4, head=False)
    yield Circle(*to, 0.9, "text", "text")


def _sentences(
    columns: list[VolumeColumn], parts: list[Part], key: list[KeyEntry]
) -> Iterator[str]:
    axes = max(len(column.first.sides) for column in columns)
    said = "length" if axes == 1 else " \u00d7 ".join(("depth", "height", "width")[-axes:])
    if columns[0].sheets:
        yield "Each sheet is a feature map, each bar a vector."
        order = f"{said} \u00d7 channels"
        if columns[0].first.is_channels_first:
            order = f"channels \u00d7 {said}"
        yield f"The labels below are {order} of each output."
    else:
        yield "Each volume is the output of a layer."
        said = f"{said} \u00d7 channels"
        if columns[0].first.is_channels_first and axes == 2:
            said = "channels \u00d7 height \u00d7 width"
        yield f"The labels below are {said} (for bars, the number of units)."
        grow = "Height and depth grow with the square root of the image's sides,"
        yield "Height grows with the square root of the length," if axes == 1 else grow
        yield "thickness with the"
        yield "logarithm of the number of channels."
    squares = [column.label[0] for column in columns if column.label[0].endswith("\u00b2")]
    if squares:
        side = squares[0].rstrip("\u00b2")
        yield f"{squares[0]} means {side}{TIMES}{side}."
    windows = dict.fromkeys(f"{part.window} {part.kind}" for part in parts if part.window)
    if windows:
        yield f"Windows: {', '.join(windows)}."
    yield f"Kinds: {'; '.join(entry.words for entry in key)}."

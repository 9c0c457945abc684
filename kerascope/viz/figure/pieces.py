"""The pieces of a figure of blocks: a box, a row of boxes, a shortcut, a frame with its count.

A `Piece` has a size, and marks that are placed from its own upper left corner. Larger pieces place
the marks of smaller ones (`Piece.at`). Most pieces are laid out along one of two directions, down
or to the right: their lengths are *across* and *along* it, and `on_page` turns these into x and y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kerascope.viz.figure.living import strip, strip_size
from kerascope.viz.figure.marks import (
    SMALLEST,
    Page,
    arrow,
    box,
    frame,
    ground,
    shortened,
    too_narrow,
    words,
)
from kerascope.viz.figure.reading import Part, Shape, has_own_name, members_of, shape_text, sides_of
from kerascope.viz.figure.segments import Segment, Unit
from kerascope.viz.figure.words import words_of
from kerascope.viz.sheet import Circle, Data, Label, Point, Raster, data_of, moved, padded_width
from kerascope.viz.sheet import Shape as Mark

GAP = 10.0  # between boxes: an arrow
TITLE = 12.0  # height of a frame's title
PLUS = 4.6  # radius of an addition


def on_page(down: bool, across: float, along: float) -> Point:
    """Convert lengths across and along a direction into a point (x, y).

    The direction is down or to the right. The function is its own inverse: it also converts x and y
    into lengths across and along.
    """
    return (across, along) if down else (along, across)


@dataclass(frozen=True)
class Piece:
    """A piece of a figure of blocks, which draws one or several boxes and can be put anywhere.

    Attributes
    ----------
    width, height : float
    marks : sequence of Mark
        Placed relative to the upper left corner of the piece.
    is_box : bool
        Whether the piece is a single box.
    is_frame : bool
        Whether the piece is a frame. An arrow leaves a frame even at the end of the model.
    entry, exit : Point or None
        Points where the arrows from the previous piece and to the next piece meet this piece,
        relative to its upper left corner; None for the middle of a side.
    leads : bool
        Whether the piece draws the head of the arrow that arrives at it.
    """

    width: float
    height: float
    marks: Sequence[Mark]
    is_box: bool = False
    is_frame: bool = False
    entry: Point | None = None
    exit: Point | None = None
    leads: bool = False

    def at(self, x: float, y: float) -> list[Mark]:
        """Return the marks of the piece with its upper left corner at (x, y)."""
        return [moved(mark, x, y) for mark in self.marks]

    def begin(self, down: bool) -> Point:
        """Return the point where an arrow that runs `down` or to the right arrives at the piece.

        It is relative to the upper left corner of the piece.
        """
        return self.entry or ((self.width / 2, 0.0) if down else (0.0, self.height / 2))

    def end(self, down: bool) -> Point:
        """Return the point where an arrow that runs `down` or to the right leaves the piece.

        It is relative to the upper left corner of the piece.
        """
        end = (self.width / 2, self.height) if down else (self.width, self.height / 2)
        return self.exit or end


def row_of(pieces: Sequence[Piece], down: bool) -> Piece:
    """Return one piece that is a row of pieces, downwards or to the right, joined by arrows."""
    sizes = [on_page(down, piece.width, piece.height) for piece in pieces]
    across = max(size for size, _ in sizes)
    marks: list[Mark] = []
    at = 0.0
    for number, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
        if number:
            stop = at + GAP - (0.0 if piece.leads else 0.6)
            ends = on_page(down, across / 2, at), on_page(down, across / 2, stop)
            marks.append(arrow(*ends, head=not piece.leads))
            at += GAP
        marks += piece.at(*on_page(down, (across - size[0]) / 2, at))
        at += size[1]
    return Piece(*on_page(down, across, at), marks, leads=pieces[0].leads)


def residual(unit: Unit, segment: Segment, page: Page, down: bool) -> Piece:
    """Return the piece of a residual segment: its layers as a row, and the shortcut around it."""
    boxes = [layer_box(unit, part, page, plain=True) for part in segment.way]
    row, last = row_of(boxes, down), boxes[-1]
    side, lead = 9.0, 7.0  # space for the shortcut: next to the row, before it
    across, along = on_page(down, row.width, row.height)
    last_across, last_along = on_page(down, last.width, last.height)
    middle, end = side + across / 2, lead + along - last_along / 2
    stop = side + (across - last_across) / 2 - 0.6
    turns = (middle, 1.5), (2.5, 1.5), (2.5, end), (stop, end)
    path = [on_page(down, *point) for point in turns]
    marks: list[Mark] = [
        arrow(on_page(down, middle, 0.0), on_page(down, middle, lead - 0.6)),
        *row.at(*on_page(down, side, lead)),
        arrow(*path, color="accent orange", width=0.9),
    ]
    if projections := unit.projections(segment):
        (x0, y0), (x1, y1) = path[1:3]  # the long part of the shortcut
        corner = (x0 + x1) / 2 - 2.5, (y0 + y1) / 2 - 2.5
        copies = f"{len(projections)} of {len(unit.copies)}"
        data = data_of(members_of(projections), copies=copies)
        marks.append(box(*corner, 5.0, 5.0, projections[0].kind, data, corner=1.0, line_width=0.6))
    return Piece(*on_page(down, across + 2 * side, along + lead), marks, leads=True)


# --- frames ---------------------------------------------------------------------------------------


def framed(unit: Unit, inner: Piece, page: Page, down: bool, page_down: bool) -> Piece:
    """Return a frame around the piece of a unit, with the count and the output shape.

    If the boxes in the frame run in another direction than the page, the arrows that enter and
    leave the frame turn inside it.
    """
    turns, is_residual = down != page_down, unit.has_short_cut(unit.drawn[0])
    lead = 0.0 if is_residual else (4.0 if inner.leads else 8.0)
    lead, tail = (max(lead, 4.0 if down else 7.0), 6.0 if down else 9.0) if turns else (lead, 4.0)
    pad, shift = 5.0, 2.6 if len(unit.copies) > 1 else 0.0
    count, shape = _frame_title(unit, page)
    least = sum(padded_width(one.text, one.size, one.bold) for one in (count, shape)) + 16
    wide = max(inner.width + (2 * pad if down else lead + tail + pad), least)
    below = lead + tail + 2 if down else (-2.0 if is_residual else pad)
    high = inner.height + TITLE + below
    x, y = (wide - inner.width) / 2, shift + TITLE + (lead if down else 0.0)
    middle = y + inner.height / 2
    begin, end = (x, middle), (x + inner.width, middle)
    if down:
        begin, end = (wide / 2, y), (wide / 2, y + inner.height)
    if page_down:
        side = wide / 2 if down else 4.0
        entry, exit = (side, shift), (wide - side, shift + high)
    else:
        entry, exit = (0.0, shift + TITLE if down else middle), (wide, end[1] + 4.0 * down)
    marks: list[Mark] = [
        frame(off, shift - off, wide, high, 4.0, ("frame", "frame-line"))
        for off in dict.fromkeys((shift, 0.0))
    ]
    marks += [moved(count, wide, shift), moved(shape, 8.0 if turns and page_down else 4.0, shift)]
    if entry != begin:
        marks.append(arrow(*_turned(entry, begin, down), head=not inner.leads))
    marks += inner.at(x, y)
    marks.append(arrow(*_turned(end, exit, not down), head=False))
    exit = exit[0] + (0.0 if page_down else shift), exit[1]
    return Piece(wide + shift, high + shift, marks, is_frame=True, entry=entry, exit=exit)


def _frame_title(unit: Unit, page: Page) -> tuple[Label, Label]:
    """Return two labels for a unit's frame: the count of copies, ending at x = -4, and the shape.

    The shape is the output shape of the unit. Its label begins at x = 0.
    """
    times = len(unit.copies)
    count = f"\u00d7 {times}" if times > 1 else ""
    data, size = {"count": str(times)}, page.size + 1.6
    shape = shape_text(_common_shape(unit))
    return (
        words(-4.0, 9.0, count, size, anchor="end", bold=True, data=data),
        words(0.0, 8.6, shape, SMALLEST, anchor="start", quiet=True),
    )


def _common_shape(unit: Unit) -> Shape | None:
    """Return the output shape of a unit, without the channels if its copies differ in shape."""
    shapes = {copy[-1].parts[-1].shape for copy in unit.copies}
    last = unit.drawn[-1].parts[-1].shape
    return last if len(shapes) == 1 else sides_of(last)[0]


def _turned(a: Point, b: Point, level: bool) -> list[Point]:
    """Return the path from a to b with one turn; with `level`, the horizontal line is first."""
    return [*dict.fromkeys((a, (b[0], a[1]) if level else (a[0], b[1]), b))]


# --- boxes ----------------------------------------------------------------------------------------


def layer_box(unit: Unit, part: Part, page: Page, *, plain: bool = False, times: int = 1) -> Piece:
    """Return the piece of a layer: a box with its name, or a small circle for an addition."""
    data = data_of(unit.layers_of(part), shape_text(part.shape))
    title, facts = words_of(unit.named(part), page.narrow)
    facts = ", ".join(filter(None, (facts, part.shared)))
    if part.kind == "merge" and title == "add":
        return _plus(data)
    count = f" \u00d7 {times}" if times > 1 else ""
    if plain:
        title, facts = ", ".join(filter(None, (title, facts))), ""
        if part.window and part.kind == "convolution":  # as the papers on residual nets write it
            title = title.replace(" conv,", ",")
    shape = "" if plain else shape_text(part.shape)
    if shape in facts.split(", "):  # a vector: the text of its box contains its length
        shape = ""
    quiet = [one for one in (facts, shape) if one]
    if page.narrow and len(quiet) == 2:
        quiet = [", ".join(quiet)]
    most = page.width * (0.6 if page.narrow else 0.26)
    most -= padded_width(count, page.size, not plain)
    title = shortened(title, most, page.size, not plain) + count
    piece = _texts_in_box(part.kind, title, quiet, page, data, not plain)
    return replace(_with_portrait(part, piece, page), is_box=True)


def _with_portrait(part: Part, piece: Piece, page: Page) -> Piece:
    """Return the piece of a layer's box with the images of its output below the texts."""
    if part.portrait is None:
        return piece
    width, height = strip_size(part.portrait, piece.width - 6.0, page)
    wide, high = max(piece.width, width + 6.0), piece.height + height + 1.0
    outer = box(0.0, 0.0, wide, high, part.kind, _data_of_box(piece), corner=2.2)
    outer = replace(outer, fill="ground")
    texts = [moved(mark, (wide - piece.width) / 2, 0.0) for mark in piece.marks[2:]]
    images = strip(part, (wide - width) / 2, piece.height - 2.0, width, height, page)
    return Piece(wide, high, [outer, *texts, *images])


def _texts_in_box(
    kind: str, title: str, quiet: list[str], page: Page, data: Data, bold: bool = True
) -> Piece:
    """Return the piece of a box with a title and further lines of text below the title."""
    pitch, y = SMALLEST + 1.6, page.size * 0.75 + 3.2
    widths = [padded_width(title, page.size, bold), *(padded_width(one, SMALLEST) for one in quiet)]
    wide, high = max(widths) + 8.0, page.size + 6.0 + len(quiet) * pitch
    marks: list[Mark] = [
        box(0.0, 0.0, wide, high, kind, data, corner=2.2),
        ground(2.5, 2.0, wide - 5, high - 4, f"under {kind}"),
        words(wide / 2, y, title, page.size, bold=bold),
    ]
    for number, one in enumerate(quiet, 1):
        marks.append(words(wide / 2, y + number * pitch, one, SMALLEST, quiet=True))
    return Piece(wide, high, marks)


def _data_of_box(piece: Piece) -> Data | None:
    outer = piece.marks[0]
    return None if isinstance(outer, Raster) else outer.data


def _plus(data: Data) -> Piece:
    arm, r = PLUS * 0.6, PLUS
    ends = ((r - arm, r), (r + arm, r)), ((r, r - arm), (r, r + arm))
    arms = [arrow(*one, color="line merge", width=0.9, head=False) for one in ends]
    circle = Circle(r, r, r, "fill merge", "line merge", data=data)
    return Piece(2 * r, 2 * r, [circle, *arms])


def summary(unit: Unit, page: Page) -> Piece:
    """Return a single box that represents all layers of a unit that is too wide for the page.

    Raises
    ------
    ArgumentError
        The page is too narrow for this single box as well.
    """
    layers = members_of(part for copy in unit.copies for segment in copy for part in segment.parts)
    drawn = [part for segment in unit.drawn for part in segment.lasting]
    count = sum(part.count for part in drawn if part.kind != "input")
    times = len(unit.copies)
    ends = [copy[-1].parts[-1].node for copy in unit.copies]
    title = f"{count} layers" + (f" \u00d7 {times}" if times > 1 else "")
    quiet = shape = shape_text(unit.drawn[-1].parts[-1].shape)
    if all(has_own_name(node) for node in ends):  # such as "mixed0", the end of the branches
        names = dict.fromkeys(node.label.replace("_", " ") for node in (ends[0], ends[-1]))
        title, quiet = " \u2026 ".join(names), f"{title}, {shape}"
    piece = _texts_in_box("model", title, [quiet], page, data_of(layers, shape))
    last = unit.drawn[-1].parts[-1]
    if last.portrait and not last.portrait.bars:
        piece = _with_portrait(last, piece, page)
    if piece.width > page.width:
        raise too_narrow("blocks", page, piece.width)
    return piece

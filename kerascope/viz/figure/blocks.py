"""The form "blocks": any model as named boxes; repeated blocks are a frame with a count.

Boxes run from left to right, or from top to bottom on a narrow page. The boxes inside a frame run
in the perpendicular direction if they fit, so that frames look like the columns of a table. A
shortcut around layers is an arrow at the side of the frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kerascope.viz.figure.drawer import FigureLayout
from kerascope.viz.figure.marks import Page, arrow
from kerascope.viz.figure.pieces import GAP, Piece, framed, layer_box, residual, row_of, summary
from kerascope.viz.figure.ranks import ranks_of
from kerascope.viz.figure.reading import Reading
from kerascope.viz.figure.segments import Unit, units_of
from kerascope.viz.sheet import Point, Shape

MOST_DOWN = 14  # units in a column on a narrow page
TALLEST = 660.0  # points: the height of a page


def suits(reading: Reading) -> bool:
    """Return whether the form "blocks" can show a model: any model that has parts."""
    return bool(reading.parts)


def blocks(reading: Reading, page: Page) -> FigureLayout:
    """Return the layout of any model as named boxes."""
    units = units_of(reading)
    down = page.narrow and len(units) <= MOST_DOWN
    room = page.width - 4.0
    pieces = _pieces(reading, units, page, down, room)
    chosen = pieces
    if not down and _long(pieces) > room:
        closer = _pieces(reading, units, replace(page, compact=True), down, room)
        ways = closer, _stacked(pieces), _stacked(closer)
        chosen = next((way for way in ways if _long(way) <= room), _stacked(pieces))
    marks, height = _down(chosen, page) if down else _in_lines(chosen, page, room)
    sentences = _sentences(units)
    if height > TALLEST:
        if down:  # the arrows of a frame depend on the direction of the page
            pieces = _pieces(reading, units, page, False, room)
        summed = [
            summary(unit, page) if _branches(unit) else piece
            for unit, piece in zip(units, pieces, strict=True)
        ]
        marks, height = _in_lines(summed, page, room)
        more = ", and shows the output of its last layer" if reading.is_living else ""
        sentences.append(f"A box with a number of layers is a block that branches{more}.")
    return FigureLayout(marks, height, sentences)


def _branches(unit: Unit) -> bool:
    return any(len(s.parts) > 1 and not unit.has_short_cut(s) for s in unit.drawn)


# --- units ----------------------------------------------------------------------------------------


def _pieces(
    reading: Reading, units: list[Unit], page: Page, down: bool, room: float
) -> list[Piece]:
    """Return the piece that draws each unit. A unit too wide for the page becomes a single box."""
    for downwards in (not down, True):
        pieces = [_unit(reading, unit, page, downwards, down) for unit in units]
        if all(piece.width <= room for piece in pieces):
            return pieces
    return [
        piece if piece.width <= room else summary(unit, page)
        for piece, unit in zip(pieces, units, strict=True)
    ]


def _unit(reading: Reading, unit: Unit, page: Page, down: bool, page_down: bool) -> Piece:
    """Return the piece of a unit: a box for one layer, otherwise a frame with a count of copies."""
    if len(unit.drawn) == 1 and len(unit.drawn[0].parts) == 1:
        return layer_box(unit, unit.drawn[0].parts[0], page, times=len(unit.copies))
    first, others = unit.drawn[0].parts[0], unit.drawn[-1].parts[:-1]
    several_inputs = not reading.sources[first.node.id]
    several_outputs = not all(reading.targets[part.node.id] for part in others)
    if len(unit.copies) == 1 and (several_inputs or several_outputs):
        piece = _inside(reading, unit, page, several_inputs or page_down)
        return replace(piece, entry=None, exit=None) if page_down else piece
    return framed(unit, _inside(reading, unit, page, down), page, down, page_down)


def _inside(reading: Reading, unit: Unit, page: Page, down: bool) -> Piece:
    """Return one piece with the segments of a unit, from left to right or (`down`) downwards."""
    pieces = [
        residual(unit, segment, page, down)
        if unit.has_short_cut(segment)
        else ranks_of(reading, unit, segment, page, down)
        for segment in unit.drawn
    ]
    return pieces[0] if len(pieces) == 1 else row_of(pieces, down)


def _stacked(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of a line with neighbouring single boxes joined into columns.

    A column is at most as high as the tallest of the given pieces.
    """
    high = max(piece.height for piece in pieces)
    stacked: list[Piece] = []
    for is_box, group in groupby(pieces, lambda piece: piece.is_box):
        column: list[Piece] = []
        for piece in group:
            tall = sum(one.height + GAP for one in column) + piece.height
            if column and (not is_box or tall > high):
                stacked.append(_stack(column))
                column = []
            column.append(piece)
        stacked.append(_stack(column))
    return stacked


def _stack(column: list[Piece]) -> Piece:
    if len(column) == 1:
        return column[0]
    row, first, last = row_of(column, True), column[0], column[-1]
    entry = (row.width - first.width) / 2, first.height / 2
    exit = (row.width + last.width) / 2, row.height - last.height / 2
    return replace(row, entry=entry, exit=exit)


# --- the page -------------------------------------------------------------------------------------


def _down(pieces: list[Piece], page: Page) -> tuple[list[Shape], float]:
    """Return the marks of pieces in a column, and the height of the column."""
    marks: list[Shape] = []
    y, left = 2.0, 0.0
    for number, piece in enumerate(pieces):
        x = page.width / 2 - piece.width / 2
        if number:
            to = x + piece.begin(True)[0]
            turn = () if to == left else ((left, y + 4.0), (to, y + 4.0))
            marks.append(arrow((left, y), *turn, (to, y + GAP - 0.6)))
            y += GAP
        marks += piece.at(x, y)
        left = x + piece.end(True)[0]
        y += piece.height
    if pieces[-1].is_frame:
        marks.append(arrow((left, y), (left, y + GAP - 0.6)))
        y += GAP
    return marks, y + 2.0


def _in_lines(pieces: list[Piece], page: Page, room: float) -> tuple[list[Shape], float]:
    """Return the marks of pieces in lines from left to right, and the height of all lines."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        lead = _lead(lines[-1]) if len(lines) > 1 else 0.0
        if lines[-1] and _long([*lines[-1], piece]) > room - lead:
            lines.append([])
        lines[-1].append(piece)
    marks: list[Shape] = []
    y = 2.0
    came: list[Point] = []
    for line in lines:
        high = max(piece.height for piece in line)
        lead = _lead(line) if came else 0.0
        gap = min(max(room - lead - _long(line), 0.0) / max(1, len(line) - 1), 12.0) + GAP
        rest = room - _long(line, gap)
        x = 2.0 + max(rest / 2, min(lead, rest))
        corners = []
        for piece in line:
            corners.append((x, y + high / 2 - piece.height / 2))
            x += piece.width + gap
        if came:  # from the end of the line above
            to = _beginning(line[0], *corners[0])
            marks.append(arrow(*came, (came[-1][0], y - 7.0), (to[0][0], y - 7.0), *to))
        marks += _line(line, corners, gap)
        came = _ending(line[-1], *corners[-1], page)
        y += high + 16.0
    (x, _), last = corners[-1], pieces[-1]
    if last.is_frame and x + last.width + GAP < page.width:
        end = came[0]
        marks.append(arrow(end, (end[0] + GAP, end[1])))
    return marks, y - 14.0


def _line(line: list[Piece], corners: list[Point], gap: float) -> Iterator[Shape]:
    """Yield the marks of pieces at the given corners, and the arrows between the pieces."""
    left = (0.0, 0.0)
    for number, (piece, (x, y)) in enumerate(zip(line, corners, strict=True)):
        if number:
            (to_x, to_y), turn = piece.begin(False), x - 0.5 * gap
            yield arrow(left, (turn, left[1]), (turn, y + to_y), (x + to_x - 0.6, y + to_y))
        yield from piece.at(x, y)
        from_x, from_y = piece.end(False)
        left = x + from_x, y + from_y


def _lead(line: Sequence[Piece]) -> float:
    """Return the room at the left of a line for the arrow that enters a frame from there."""
    return GAP / 2 if line and line[0].is_frame and line[0].entry else 0.0


def _beginning(first: Piece, x: float, y: float) -> list[Point]:
    """Return the last points of the arrow from a line of pieces to the next line below it.

    The arrow reaches the first piece of the next line from above. If this piece is a frame with an
    entry point, the arrow reaches this point from the left.
    """
    if not (first.is_frame and first.entry):
        return [(x + first.width / 2, y - 0.6)]
    level = y + first.entry[1]
    return [(x - min(GAP / 2, x - 0.5), level), (x - 0.6, level)]


def _ending(last: Piece, x: float, y: float, page: Page) -> list[Point]:
    """Return the first points of the arrow from a line of pieces to the next line.

    The arrow leaves the line's last piece at the lower side. If this piece is a frame with an exit
    point, the arrow leaves from this point to the right.
    """
    if not (last.is_frame and last.exit):
        return [(x + last.width / 2, y + last.height)]
    end = x + last.exit[0], y + last.exit[1]
    return [end, (min(end[0] + GAP / 2, page.width - 0.5), end[1])]


def _long(line: Sequence[Piece], gap: float = GAP) -> float:
    return sum(piece.width for piece in line) + gap * (len(line) - 1)


# --- words ----------------------------------------------------------------------------------------


def _sentences(units: list[Unit]) -> list[str]:
    sentences = ["Each box is a layer with its activation, dropout and batch norm."]
    drawn = [(unit, segment) for unit in units for segment in unit.drawn]
    shared = any(part.shared for _, segment in drawn for part in segment.parts)
    if any(len(unit.copies) > 1 for unit in units):
        own = ", each with its own weights" + (" unless it says shared" if shared else "")
        sentences.append(f"A frame or a box with \u00d7 n is n blocks of the same build{own}.")
        if any(part.portrait for _, segment in drawn for part in segment.parts):
            sentences.append("The numbers in it are those of the last of them.")
    if shared:
        sentences.append("Boxes marked as shared use the same weights.")
    residuals = [(unit, one) for unit, one in drawn if unit.has_short_cut(one)]
    if residuals:
        sentences.append("Arrows at the side of a frame are residual connections.")
    projected = [f"{len(unit.projections(one))} of {len(unit.copies)}"
                 for unit, one in residuals if unit.projections(one)]  # fmt: skip
    if projected:
        sentences.append(
            "A small box on such an arrow is a projection layer, present in "
            f"{', '.join(projected)} blocks."
        )
    return sentences

"""The form "blocks": any model as named boxes, what repeats in a frame with its count.

Boxes follow each other along the page (down a narrow one). Inside a frame they run across that
direction where they fit, so that frames stand beside each other like columns of a table. A short
cut around layers is an arrow at the side of the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from kerascope.errors import ArgumentError
from kerascope.viz.figure.marks import BROKEN, SMALLEST, Canvas, Page, rounded, shortened
from kerascope.viz.figure.reading import Part, Reading, Shape, has_own_name, shape_text, sides_of
from kerascope.viz.figure.segments import Segment, Unit, units_of
from kerascope.viz.figure.words import words_of
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Data, Point, Polygon, Sheet, data_of

FONT_SLACK = 1.16  # what stands for Helvetica where it is not at hand may be wider
MOST_DOWN = 14  # units that stand below each other on a narrow page
TALLEST = 660.0  # points: a page has no more
GAP = 10.0  # between boxes: an arrow


@dataclass(frozen=True)
class Piece:
    """Something that has a size and can be drawn with its upper left corner at a point.

    Attributes
    ----------
    is_box : bool
        Whether it is one box, and no frame.
    is_frame : bool
        Whether it is a frame: an arrow leaves it though nothing comes after it.
    entry, exit : Point or None
        Where arrows from the left reach it and leave it to the right, seen from its corner; None
        for half its height.
    leads : bool
        Whether it draws the head of the arrow that comes in.
    """

    width: float
    height: float
    draw: Callable[[Canvas, float, float], None]
    is_box: bool = False
    is_frame: bool = False
    entry: Point | None = None
    exit: Point | None = None
    leads: bool = False


def suits(reading: Reading) -> bool:
    """Tell whether there is something to draw."""
    return bool(reading.parts)


def blocks(reading: Reading, page: Page) -> Sheet:
    """Draw any model."""
    units = units_of(reading)
    down = page.narrow and len(units) <= MOST_DOWN
    room = page.width - 4.0
    pieces = _pieces(reading, units, page, down, room)
    chosen = pieces
    if not down and _long(pieces) > room:
        closer = _pieces(reading, units, replace(page, compact=True), down, room)
        ways = closer, _stacked(pieces), _stacked(closer)
        chosen = next((way for way in ways if _long(way) <= room), _stacked(pieces))
    sheet = _drawn(units, chosen, page, down, room)
    if sheet.height <= TALLEST:
        return sheet
    if down:  # frames have their arrows where the page's direction brings them
        pieces = _pieces(reading, units, page, False, room)
    summed = [
        _summary(unit, page) if _branches(unit) else piece
        for unit, piece in zip(units, pieces, strict=True)
    ]
    sheet = _drawn(units, summed, page, False, room)
    more = " A box with a number of layers stands for a block that branches."
    return replace(sheet, description=sheet.description + more)


def _drawn(units: list[Unit], pieces: list[Piece], page: Page, down: bool, room: float) -> Sheet:
    canvas = Canvas(page)
    bottom = _draw_down(canvas, pieces) if down else _draw_in_lines(canvas, pieces, room)
    return canvas.sheet(bottom + 2.0, _legend(units))


def _branches(unit: Unit) -> bool:
    return any(len(s.parts) > 1 and not unit.has_short_cut(s) for s in unit.drawn)


def _pieces(
    reading: Reading, units: list[Unit], page: Page, down: bool, room: float
) -> list[Piece]:
    """Return all units; inside frames boxes go across the page's direction if all have room."""
    for downwards in (not down, True):
        pieces = [_unit(reading, unit, page, downwards, down) for unit in units]
        if all(piece.width <= room for piece in pieces):
            return pieces
    return [
        piece if piece.width <= room else _summary(unit, page)
        for piece, unit in zip(pieces, units, strict=True)
    ]


def _draw_down(canvas: Canvas, pieces: list[Piece]) -> float:
    x, y, left = canvas.page.width / 2, 2.0, 0.0
    for number, piece in enumerate(pieces):
        corner = x - piece.width / 2
        if number:
            to = corner + (piece.entry or (piece.width / 2, 0.0))[0]
            turn = () if to == left else ((left, y + 4.0), (to, y + 4.0))
            canvas.line(((left, y), *turn, (to, y + GAP - 0.6)))
            y += GAP
        piece.draw(canvas, corner, y)
        left = corner + (piece.exit or (piece.width / 2, 0.0))[0]
        y += piece.height
    if pieces[-1].is_frame:
        canvas.line(((left, y), (left, y + GAP - 0.6)))
        y += GAP
    return y


def _draw_in_lines(canvas: Canvas, pieces: list[Piece], room: float) -> float:
    """Draw pieces from left to right, in as many lines as they need."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if lines[-1] and _long([*lines[-1], piece]) > room:
            lines.append([])
        lines[-1].append(piece)
    y, left = 2.0, (0.0, 0.0)
    came: list[Point] = []
    for line in lines:
        high = max(piece.height for piece in line)
        middle = y + high / 2
        gap = min((room - _long(line)) / max(1, len(line) - 1), 12.0) + GAP
        wide = sum(piece.width for piece in line) + gap * (len(line) - 1)
        x = 2.0 + (room - wide) / 2
        if came:  # from the end of the line above to the beginning of this one
            turn, first = y - 7.0, line[0]
            top = middle - first.height / 2
            goes = [(x + first.width / 2, top - 0.6)]
            if first.is_frame and first.entry:  # into its side
                beside = x - min(GAP / 2, x - 0.5)
                goes = [(beside, top + first.entry[1]), (x - 0.6, top + first.entry[1])]
            canvas.line((*came, (came[-1][0], turn), (goes[0][0], turn), *goes))
        for number, piece in enumerate(line):
            top = middle - piece.height / 2
            if number:
                to_x, to_y = piece.entry or (0.0, piece.height / 2)
                end, turn = (x + to_x - 0.6, top + to_y), x - 0.5 * gap
                canvas.line((left, (turn, left[1]), (turn, end[1]), end))
            piece.draw(canvas, x, top)
            from_x, from_y = piece.exit or (piece.width, piece.height / 2)
            left = x + from_x, top + from_y
            x += piece.width + gap
        last = line[-1]
        came = [(x - gap - last.width / 2, middle + last.height / 2)]
        if last.is_frame and last.exit:
            came = [left, (min(left[0] + GAP / 2, canvas.page.width - 0.5), left[1])]
        if last is pieces[-1] and last.is_frame and x - gap + GAP < canvas.page.width:
            canvas.line((left, (left[0] + GAP, left[1])))
        y += high + 16.0
    return y - 16.0


def _stacked(pieces: list[Piece]) -> list[Piece]:
    """Return pieces with boxes that follow each other put below each other, beside a frame."""
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
    row, first, last = _row(column, True), column[0], column[-1]
    entry = (row.width - first.width) / 2, first.height / 2
    exit = (row.width + last.width) / 2, row.height - last.height / 2
    return replace(row, entry=entry, exit=exit)


def _long(line: Sequence[Piece]) -> float:
    return sum(piece.width for piece in line) + GAP * (len(line) - 1)


# --- units ----------------------------------------------------------------------------------------


def _unit(reading: Reading, unit: Unit, page: Page, down: bool, page_down: bool) -> Piece:
    """Return a unit as a box, as boxes, or as a frame with its count."""
    if len(unit.drawn) == 1 and len(unit.drawn[0].parts) == 1:
        return _box(unit, unit.drawn[0].parts[0], page, times=len(unit.copies))
    first, others = unit.drawn[0].parts[0], unit.drawn[-1].parts[:-1]
    several_inputs = not reading.sources[first.node.id]
    several_outputs = not all(reading.targets[part.node.id] for part in others)
    if len(unit.copies) == 1 and (several_inputs or several_outputs):
        piece = _inside(reading, unit, page, several_inputs or page_down)
        return replace(piece, entry=None, exit=None) if page_down else piece
    return _framed(unit, _inside(reading, unit, page, down), page, down, page_down)


def _inside(reading: Reading, unit: Unit, page: Page, down: bool) -> Piece:
    """Return the segments of a unit one after another."""
    pieces = [
        _residual(unit, segment, page, down)
        if unit.has_short_cut(segment)
        else _ranks(reading, unit, segment, page, down)
        for segment in unit.drawn
    ]
    return pieces[0] if len(pieces) == 1 else _row(pieces, down)


def _row(pieces: list[Piece], down: bool, gap: float = GAP) -> Piece:
    """Return pieces below each other, or beside each other, with arrows between."""
    along = sum(piece.height if down else piece.width for piece in pieces)
    along += gap * (len(pieces) - 1)
    across = max(piece.width if down else piece.height for piece in pieces)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        at = y if down else x
        for number, piece in enumerate(pieces):
            if number:
                middle = (x if down else y) + across / 2
                ends = ((middle, at), (middle, at + gap - (0.0 if piece.leads else 0.6)))
                canvas.line(ends if down else [(b, a) for a, b in ends], head=not piece.leads)
                at += gap
            if down:
                piece.draw(canvas, x + (across - piece.width) / 2, at)
                at += piece.height
            else:
                piece.draw(canvas, at, y + (across - piece.height) / 2)
                at += piece.width

    size = (across, along) if down else (along, across)
    return Piece(*size, draw, leads=pieces[0].leads)


def _residual(unit: Unit, segment: Segment, page: Page, down: bool) -> Piece:
    """Return a row of boxes and the short cut around them."""
    row = _row([_box(unit, part, page, plain=True) for part in segment.way], down)
    end = _box(unit, segment.way[-1], page, plain=True)
    side, lead = 9.0, 7.0  # beside the row, before it: where the short cut leaves
    projections = unit.projections(segment)
    members = [member for part in projections for member in part.members]
    beside = data_of(members, copies=f"{len(projections)} of {len(unit.copies)}")

    def draw(canvas: Canvas, x: float, y: float) -> None:
        color = canvas.look.accent("orange")
        path: tuple[Point, ...]
        if down:
            middle, left = x + side + row.width / 2, x + 2.5
            bottom = y + lead + row.height - end.height / 2
            canvas.line(((middle, y), (middle, y + lead - 0.6)))
            stop = x + side + (row.width - end.width) / 2 - 0.6
            path = ((middle, y + 1.5), (left, y + 1.5), (left, bottom), (stop, bottom))
            row.draw(canvas, x + side, y + lead)
        else:
            middle, low = y + side + row.height / 2, y + 2.5
            right = x + lead + row.width - end.width / 2
            canvas.line(((x, middle), (x + lead - 0.6, middle)))
            stop = y + side + (row.height - end.height) / 2 - 0.6
            path = ((x + 1.5, middle), (x + 1.5, low), (right, low), (right, stop))
            row.draw(canvas, x + lead, y + side)
        canvas.line(path, color=color, width=0.9)
        if projections:
            (x0, y0), (x1, y1) = path[1:3]  # the long part of the short cut
            corner = (x0 + x1) / 2 - 2.5, (y0 + y1) / 2 - 2.5
            kind = projections[0].kind
            canvas.rect(*corner, 5.0, 5.0, kind, corner=1.0, line_width=0.6, data=beside)

    if down:
        return Piece(row.width + 2 * side, row.height + lead, draw, leads=True)
    return Piece(row.width + lead, row.height + 2 * side, draw, leads=True)


def _ranks(reading: Reading, unit: Unit, segment: Segment, page: Page, down: bool) -> Piece:
    """Return parts that branch and join: a rank for each step, all arrows between them.

    An arrow that passes ranks has a lane of its own in each of them.
    """
    inside = {part.node.id: part for part in segment.parts}
    rank = _rank_of(reading, inside)
    boxes = {one: _box(unit, part, page, plain=len(inside) > 6) for one, part in inside.items()}
    fed = [one for one in inside if any(s not in inside for s in reading.sources[one])]
    if fed == [one for one in inside if rank[one] == 0] and len(fed) == 1:
        fed = []  # the arrow that comes in leads to it
    edges = [(DOOR, one) for one in fed]
    edges += [(s, one) for one in inside for s in reading.sources[one] if s in inside]
    rows, ways = _lanes(inside, rank, edges)
    wide = {one: box.width if down else box.height for one, box in boxes.items()}
    row_of = {one: number for number, row in enumerate(rows) for one in row}
    at = _beside_each_other(rows, ways, wide)
    thick = [
        max(boxes[one].height if down else boxes[one].width for one in row if one in boxes)
        for row in rows
    ]
    lead = GAP + 2 if fed else 0.0  # where what comes in is shared out
    tops = [lead]
    for size in thick:
        tops.append(tops[-1] + size + GAP + 2)
    along = tops[-1] - GAP - 2
    across = _middled(at, rows, wide)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        def point(beside: float, forth: float) -> Point:
            return (x + beside, y + forth) if down else (x + forth, y + beside)

        for way in ways:
            path = [point(across / 2, 0.0)] if way[0] == DOOR else []
            for one in way[len(path) :]:
                top, room = tops[row_of[one]], thick[row_of[one]]
                if one not in boxes:
                    path += [point(at[one], top), point(at[one], top + room)]
                    continue
                size = boxes[one].height if down else boxes[one].width
                if one == way[0]:  # past wider boxes beside it before it turns
                    path.append(point(at[one], top + (room + size) / 2))
                    if size < room:
                        path.append(point(at[one], top + room))
                else:
                    if size < room:
                        path.append(point(at[one], top))
                    path.append(point(at[one], top + (room - size) / 2 - 0.6))
            canvas.line(path)
        for one, box in boxes.items():
            size = box.height if down else box.width
            corner = at[one] - wide[one] / 2, tops[rank[one]] + (thick[rank[one]] - size) / 2
            box.draw(canvas, *point(*corner))

    if not down:
        return Piece(along, across, draw, leads=bool(fed))
    exit = None
    if len(rows[-1]) == 1:
        exit = ((across + boxes[rows[-1][0]].width) / 2, along - thick[-1] / 2)
    return Piece(across, along, draw, exit=exit, leads=bool(fed))


DOOR = "the arrow that comes in"
BESIDE, LANE = 6.0, 4.0  # between boxes, and beside the lane of an arrow
SWEEPS = 12


def _rank_of(reading: Reading, inside: dict[str, Part]) -> dict[str, int]:
    """Return the step at which each part stands: the longest way to it."""
    rank: dict[str, int] = {}
    for one in inside:
        rank[one] = 1 + max((rank[s] for s in reading.sources[one] if s in inside), default=-1)
    for one in reversed(inside):  # what feeds only something late stands just before it
        ahead = [rank[target] for target in reading.targets[one] if target in inside]
        if ahead and not reading.sources[one]:
            rank[one] = min(ahead) - 1
    return rank


def _lanes(
    inside: Iterable[str], rank: Mapping[str, int], edges: Iterable[tuple[str, str]]
) -> tuple[list[list[str]], list[list[str]]]:
    """Return what stands in each rank, lanes too, in an order with few crossings, and the ways."""
    rows: list[list[str]] = [[] for _ in range(max(rank.values()) + 1)]
    for one in inside:
        rows[rank[one]].append(one)
    ways = []
    for source, target in edges:
        passed = range(rank.get(source, -1) + 1, rank[target])
        lanes = [f"> {row} {source} {target}" for row in passed]
        for row, lane in zip(passed, lanes, strict=True):
            rows[row].append(lane)
        ways.append([source, *lanes, target])
    before: dict[str, list[str]] = {}
    for way in ways:
        for one, next_one in pairwise(way):
            before.setdefault(next_one, []).append(one)
    for above, below in pairwise(rows):
        place = {one: float(i) for i, one in enumerate(above)}
        means = {one: mean_of(place, before.get(one, ()), len(place) / 2) for one in below}
        below.sort(key=means.__getitem__)
    return rows, ways


def mean_of(places: Mapping[str, float], ones: Iterable[str], otherwise: float) -> float:
    """Return the mean of the places of those that have one."""
    found = [places[one] for one in ones if one in places]
    return sum(found) / len(found) if found else otherwise


def _beside_each_other(
    rows: Sequence[Sequence[str]], ways: Iterable[Sequence[str]], wide: Mapping[str, float]
) -> dict[str, float]:
    """Return where the middle of each box and lane lies: near those that it is joined to."""
    joined: dict[str, list[str]] = {}
    for way in ways:
        for one, other in pairwise(way):
            joined.setdefault(one, []).append(other)
            joined.setdefault(other, []).append(one)
    at: dict[str, float] = {}
    for row in rows:
        _set_apart(row, [0.0] * len(row), wide, at)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [mean_of(at, joined.get(one, ()), at[one]) for one in row]
            _set_apart(row, wanted, wide, at)
    return at


def _middled(
    at: dict[str, float], rows: Sequence[Sequence[str]], wide: Mapping[str, float]
) -> float:
    """Move all so that it begins at 0, what comes in and goes out alone to the middle; its size."""
    alone = dict.fromkeys(row[0] for row in (rows[0], rows[-1]) if len(row) == 1)
    others = [one for one in at if one not in alone]
    low = min((at[one] - wide.get(one, 0.0) / 2 for one in others), default=0.0)
    high = max((at[one] + wide.get(one, 0.0) / 2 for one in others), default=0.0)
    across = max([high - low, *(wide[one] for one in alone)])
    for one in at:
        at[one] += (across - low - high) / 2
    at.update(dict.fromkeys(alone, across / 2))
    return across


def _set_apart(
    row: Sequence[str], wanted: Sequence[float], wide: Mapping[str, float], at: dict[str, float]
) -> None:
    """Place a row near what is wanted, in its order and without overlap."""
    gaps = [
        (wide.get(a, 0.0) + wide.get(b, 0.0)) / 2 + (BESIDE if a in wide and b in wide else LANE)
        for a, b in pairwise(row)
    ]
    placed = list(wanted[:1])
    for want, gap in zip(wanted[1:], gaps, strict=True):
        placed.append(max(want, placed[-1] + gap))
    shift = sum(w - p for w, p in zip(wanted, placed, strict=True)) / len(row)
    for one, place in zip(row, placed, strict=True):
        at[one] = place + shift


def _framed(unit: Unit, inner: Piece, page: Page, down: bool, page_down: bool) -> Piece:
    """Return a frame around a unit, with its count and what it gives.

    Where its boxes go across the page's direction, the arrows that come in and go out turn inside.
    """
    times = len(unit.copies)
    count = f"\u00d7 {times}" if times > 1 else ""
    shape = shape_text(_common_shape(unit))
    big = page.size + 1.6
    head = text_width(count, big, True) * FONT_SLACK + text_width(shape, SMALLEST) * FONT_SLACK + 16
    pad, top, shift = 5.0, 12.0, 2.6 if times > 1 else 0.0
    turns, is_residual = down != page_down, unit.has_short_cut(unit.drawn[0])
    lead = 0.0 if is_residual else (4.0 if inner.leads else 8.0)
    lead, tail = (max(lead, 4.0 if down else 7.0), 6.0 if down else 9.0) if turns else (lead, 4.0)
    wide = max(inner.width + (2 * pad if down else lead + tail + pad), head)
    below = lead + tail + 2 if down else (-2.0 if is_residual else pad)
    high = inner.height + top + below
    across = shift + top + (0.0 if down else inner.height / 2)  # where a row has its arrows
    corner = (wide - inner.width) / 2, shift + top + (lead if down else 0.0)
    end = corner[0] + inner.width, corner[1] + inner.height
    comes, goes = (0.0, across), (wide, across)
    if down and turns:
        goes = wide, end[1] + 4.0
    elif turns:
        comes, goes = (4.0, shift), (wide - 4.0, shift + high)
    elif down:
        comes, goes = (wide / 2, shift), (wide / 2, shift + high)
    begins = (wide / 2, corner[1]) if down else (corner[0], across)
    leaves = (wide / 2, end[1]) if down else (end[0], across)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        def path(a: Point, b: Point, along: bool) -> list[Point]:
            """From a to b, with one turn: first along the row, or across it."""
            turn = (b[0], a[1]) if along else (a[0], b[1])
            return [(x + px, y + py) for px, py in dict.fromkeys((a, turn, b))]

        fill, line = canvas.look.frame
        for off in (shift, 0.0) if shift else (0.0,):
            outline = rounded(x + off, y + shift - off, wide, high, 4.0)
            canvas.marks.append(Polygon(outline, fill, line, 0.6, BROKEN))
        left, upper = x, y + shift
        data = {"count": str(times)}
        canvas.words(
            left + wide - 4, upper + 9, count, size=big, anchor="end", bold=True, data=data
        )
        where = 8.0 if turns and not down else 4.0
        canvas.words(left + where, upper + 8.6, shape, size=SMALLEST, anchor="start", quiet=True)
        before = 0.0 if inner.leads else 0.6
        stop = (begins[0], begins[1] - before) if down else (begins[0] - before, begins[1])
        if comes != begins:
            canvas.line(path(comes, stop, down), head=not inner.leads)
        inner.draw(canvas, x + corner[0], y + corner[1])
        canvas.line(path(leaves, goes, not down), head=False)

    exit = goes[0] + (0.0 if page_down else shift), goes[1]
    return Piece(wide + shift, high + shift, draw, is_frame=True, entry=comes, exit=exit)


def _common_shape(unit: Unit) -> Shape | None:
    """Return what all copies of a unit give: of a dense block, whose channels grow, the sides."""
    shapes = {copy[-1].parts[-1].shape for copy in unit.copies}
    last = unit.drawn[-1].parts[-1].shape
    return last if len(shapes) == 1 else sides_of(last)[0]


# --- boxes ----------------------------------------------------------------------------------------


def _box(unit: Unit, part: Part, page: Page, *, plain: bool = False, times: int = 1) -> Piece:
    """Return a box; a plain one has one line, an addition is a small circle."""
    layers = unit.layers_of(part)
    data = data_of(layers, shape_text(part.shape))
    title, facts = words_of(unit.named(part), page.narrow)
    facts = ", ".join(filter(None, (facts, part.shared)))
    if part.kind == "merge" and title == "add":
        return _plus(data)
    count = f" \u00d7 {times}" if times > 1 else ""
    if plain:
        title, facts = ", ".join(filter(None, (title, facts))), ""
        if part.window and part.kind == "convolution":  # as the papers on residual nets have it
            title = title.replace(" conv,", ",")
    shape = "" if plain else shape_text(part.shape)
    if shape in facts.split(", "):  # a row of numbers: its length is said already
        shape = ""
    quiet = [one for one in (facts, shape) if one]
    if page.narrow and len(quiet) == 2:
        quiet = [", ".join(quiet)]
    size, small = page.size, SMALLEST
    most = page.width * (0.6 if page.narrow else 0.26)
    most -= text_width(count, size, not plain)
    title = shortened(title, most, size, not plain) + count
    wide = max(
        text_width(title, size, not plain) * FONT_SLACK,
        *(text_width(one, small) * FONT_SLACK for one in [*quiet, ""]),
    )
    wide, high = wide + 8.0, size + 6.0 + len(quiet) * (small + 1.6)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        canvas.rect(x, y, wide, high, part.kind, corner=2.2, data=data)
        if canvas.look.box(part.kind)[2]:  # words on a pattern need a ground
            wipe = rounded(x + 2.5, y + 2, wide - 5, high - 4, 0)
            canvas.marks.append(Polygon(wipe, canvas.look.ground, "", 0))
        at = y + size * 0.75 + 3.2
        canvas.words(x + wide / 2, at, title, size=size, bold=not plain)
        for one in quiet:
            at += small + 1.6
            canvas.words(x + wide / 2, at, one, size=small, quiet=True)

    return Piece(wide, high, draw, is_box=True)


def _plus(data: Data) -> Piece:
    radius = 4.6

    def draw(canvas: Canvas, x: float, y: float) -> None:
        fill, line, _ = canvas.look.box("merge")
        cx, cy, arm = x + radius, y + radius, radius * 0.6
        canvas.circle(cx, cy, radius, fill, line, data)
        for ends in (((cx - arm, cy), (cx + arm, cy)), ((cx, cy - arm), (cx, cy + arm))):
            canvas.line(ends, color=line, width=0.9, head=False)

    return Piece(2 * radius, 2 * radius, draw)


def _summary(unit: Unit, page: Page) -> Piece:
    """Return one box for a unit that is too wide to be drawn."""
    layers = [m for copy in unit.copies for segment in copy for part in segment.parts
              for m in part.members]  # fmt: skip
    drawn = [part for segment in unit.drawn for part in segment.lasting]
    count = sum(part.count for part in drawn if part.kind != "input")
    last = unit.drawn[-1].parts[-1]
    times = len(unit.copies)
    ends = [copy[-1].parts[-1].node for copy in unit.copies]
    title = f"{count} layers" + (f" \u00d7 {times}" if times > 1 else "")
    quiet = shape = shape_text(last.shape)
    if all(has_own_name(node) for node in ends):  # as "mixed0", where the branches come together
        names = dict.fromkeys(node.label.replace("_", " ") for node in (ends[0], ends[-1]))
        title, quiet = " \u2026 ".join(names), f"{title}, {shape}"
    wide = max(text_width(title, page.size, True), text_width(quiet, SMALLEST)) * FONT_SLACK + 10.0
    if wide > page.width:
        raise ArgumentError(
            f"draw: a block of the figure has no room; expected a width of at least {wide:.0f}pt, "
            f"got {page.width:.0f}pt. Give width='174mm'."
        )

    def draw(canvas: Canvas, x: float, y: float) -> None:
        canvas.rect(x, y, wide, 22.0, "model", corner=2.2, data=data_of(layers, shape))
        canvas.words(x + wide / 2, y + 9.5, title, bold=True)
        canvas.words(x + wide / 2, y + 18.0, quiet, size=SMALLEST, quiet=True)

    return Piece(wide, 22.0, draw)


def _legend(units: list[Unit]) -> str:
    sentences = ["Each box is a layer with what belongs to it (activation, dropout, batch norm)."]
    parts = [part for unit in units for segment in unit.drawn for part in segment.parts]
    shared = any(part.shared for part in parts)
    if any(len(unit.copies) > 1 for unit in units):
        own = ", each with its own weights unless it says shared" if shared else ""
        own = own or ", each with its own weights"
        sentences.append(f"A frame or a box with \u00d7 n stands for n of one build{own}.")
    if shared:
        sentences.append("Boxes marked as shared use the same weights.")
    residual = [(unit, one) for unit in units for one in unit.drawn if unit.has_short_cut(one)]
    if residual:
        sentences.append("Arrows at the side of a frame are residual connections.")
    projected = [f"{len(unit.projections(one))} of {len(unit.copies)}"
                 for unit, one in residual if unit.projections(one)]  # fmt: skip
    if projected:
        sentences.append(
            "A small box on such an arrow is a layer that is there in "
            f"{', '.join(projected)} blocks, a projection."
        )
    return " ".join(sentences)

"""The form "columns": recurrent nets, unrolled in time, a column for each input.

The flow goes up. A recurrent layer is a row of cells, one for each time step; only the first two
and the last are drawn. Its state goes from left to right, and from the last cell of an encoder to
the first cell of its decoder. A layer that treats all steps alike is a bar across its column.
Inputs from another column (attention) arrive at the side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

from kerascope.viz.figure.drawer import FigureLayout
from kerascope.viz.figure.living import strip, strip_size
from kerascope.viz.figure.marks import (
    ELLIPSIS,
    SMALLEST,
    Page,
    arrow,
    box,
    fitting_size,
    ground,
    shortened,
    words,
)
from kerascope.viz.figure.reading import Part, Reading, class_of
from kerascope.viz.figure.words import words_of
from kerascope.viz.sheet import Point, Shape, padded_width

MOST_COLUMNS = 3
CELLS = (0.125, 0.4, 0.875)  # middles of the cells, as shares of a column's width
DOTS = 0.6375
TRACKS = 2
SIDE = 9.0  # next to a column: for arrows that skip rows


@dataclass(frozen=True)
class Place:
    """Where a part is drawn: in which column from the left, and in which row from the bottom."""

    column: int
    row: int


def suits(reading: Reading) -> bool:
    """Return whether a model is recurrent and its parts form columns with a single end.

    No arrow between two columns may cross another part. For an arrow that skips rows of its
    column, one of the two tracks next to the column must be free.
    """
    places = places_of(reading)
    if places is None or not any(map(is_recurrent, reading.parts.values())):
        return False
    taken = {(place.column, place.row) for place in places.values()}
    for one, part in reading.parts.items():
        to = places[one]
        for number, source in enumerate(reading.sources[one]):
            begin = places[source]
            between = range(begin.column + 1, to.column)
            if begin.column == to.column:
                continue
            if is_recurrent(part):  # a state, along the row of its source
                if number == 0 or any((column, begin.row) in taken for column in between):
                    return False
                continue
            above = range(begin.row + 1, to.row + 1)
            passed = {(begin.column, row) for row in above} | {(one, to.row) for one in between}
            if passed & taken:
                return False
    return all(track < TRACKS for track in tracks_of(reading, places).values())


def tracks_of(reading: Reading, places: dict[str, Place]) -> dict[tuple[str, str], int]:
    """Return the track of each arrow that skips rows.

    Tracks are vertical lines next to a column. Short arrows are nearest to the column.
    """
    skips = [(places[one].row - places[source].row, source, one)
             for one in reading.parts for source in reading.sources[one]
             if places[source].column == places[one].column]  # fmt: skip
    tracks: dict[tuple[str, str], int] = {}
    used: dict[tuple[int, int, int], None] = {}  # column, track and the room above a row
    for length, source, one in sorted(skip for skip in skips if skip[0] > 1):
        begin = places[source]
        rooms = range(begin.row, begin.row + length)
        track = next(n for n in count() if not any((begin.column, n, row) in used for row in rooms))
        used.update(dict.fromkeys((begin.column, track, row) for row in rooms))
        tracks[source, one] = track
    return tracks


def is_recurrent(part: Part) -> bool:
    """Return whether a part is a recurrent layer, which passes a state to the next time step."""
    return part.kind == "recurrent" or is_both_ways(part)


def has_cells(part: Part) -> bool:
    """Return whether a part is drawn as cells: a recurrent layer without images of its states."""
    return is_recurrent(part) and part.portrait is None


def is_both_ways(part: Part) -> bool:
    """Return whether a part is a Bidirectional layer, which runs in both directions of time."""
    return class_of(part.node) == "Bidirectional"


def places_of(reading: Reading) -> dict[str, Place] | None:
    """Return the column and the row of each part; None if the parts do not form columns."""
    places: dict[str, Place] = {}
    columns = 0
    for one, part in reading.parts.items():
        sources = [places[source] for source in reading.sources[one]]
        if not sources:
            places[one] = Place(columns, 0)
            columns += 1
            continue
        column = max(source.column for source in sources)
        beside = 0 if is_recurrent(part) else 1  # a state arrives at the height of the cells
        rows = [s.row + (1 if s.column == column else beside) for s in sources]
        places[one] = Place(column, max(rows))
    distinct = len({*places.values()}) == len(places)
    ends = [one for one, targets in reading.targets.items() if not targets]
    single = len(ends) == 1 and places[ends[0]].column == columns - 1
    return places if distinct and single and columns <= MOST_COLUMNS else None


def columns(reading: Reading, page: Page) -> FigureLayout:
    """Return the layout of a recurrent model."""
    grid = _TimeColumns(reading, page)
    return FigureLayout([*grid.marks()], grid.height, [*_sentences(reading)])


class _TimeColumns:
    """The coordinates of the rows and columns in which a recurrent model is drawn."""

    def __init__(self, reading: Reading, page: Page) -> None:
        self.reading, self.page = reading, page
        self.places = places_of(reading) or {}
        self.tracks = tracks_of(reading, self.places)
        columns = 1 + max(place.column for place in self.places.values())
        rows = 1 + max(place.row for place in self.places.values())
        self.cell = 15.0 if page.narrow else 19.0
        self.top_extra = 0.0  # the output of a living figure is a chart
        portraits = [part.portrait for part in reading.parts.values() if part.portrait]
        if portraits:
            images = [one for one in portraits if not one.bars]
            self.cell += max((strip_size(one, 0.0, page)[1] for one in images), default=0.0)
            charts = [strip_size(one, 0.0, page)[1] for one in portraits if one.bars]
            self.top_extra = max(0.0, max(charts, default=0.0) + page.size + 7.0 - self.cell)
        self.pitch = self.cell + (15.0 if page.narrow else 18.0)
        self.height = rows * self.pitch - (self.pitch - self.cell) + 8.0 + self.top_extra
        self.between = 22.0 if page.narrow else 40.0
        most = 110.0 if page.narrow else 190.0
        self.wide = min((page.width - 2 * SIDE - 4 - self.between * (columns - 1)) / columns, most)
        taken = columns * self.wide + self.between * (columns - 1)
        self.start = (page.width - taken) / 2

    def left(self, one: str) -> float:
        """Return the x coordinate of the left end of the column that a part is in."""
        return self.start + self.places[one].column * (self.wide + self.between)

    def right(self, one: str) -> float:
        """Return the x coordinate of the right end of a part, which is a bar or a row of cells."""
        if has_cells(self.reading.parts[one]):
            return self.steps(one)[-1] + self.cell_width / 2
        return self.left(one) + self.wide

    def top(self, one: str) -> float:
        """Return the y coordinate of the upper end of a part's row."""
        return self.height - 4.0 - self.cell - self.places[one].row * self.pitch

    def level(self, one: str, share: float = 0.5) -> float:
        """Return a y coordinate in a part's row, at a fraction of the row's height from its top."""
        return self.top(one) + self.cell * share

    def steps(self, one: str) -> list[float]:
        """Return the x coordinates of the drawn time steps in a part's column."""
        return [self.left(one) + share * self.wide for share in CELLS]

    @property
    def cell_width(self) -> float:
        """The width of one recurrent cell."""
        return self.wide * 0.235

    def marks(self) -> Iterator[Shape]:
        """Yield the marks of all arrows, then those of all rows."""
        for one in self.reading.parts:
            for source in self.reading.sources[one]:
                yield from self._arrow(source, one)
        for one, part in self.reading.parts.items():
            yield from (self._cells if has_cells(part) else self._bar)(one, part)

    # --- arrows ---

    def _arrow(self, source: str, target: str) -> Iterator[Shape]:
        a, b = self.places[source], self.places[target]
        if a.column != b.column:
            is_state = is_recurrent(self.reading.parts[target])
            return (self._state if is_state else self._from_the_side)(source, target)
        return (self._up if b.row - a.row == 1 else self._past)(source, target)

    def _up(self, source: str, target: str) -> Iterator[Shape]:
        """Yield arrows to the row above, from the time steps whose outputs `source` returns."""
        bottom = self.top(target) + self.cell
        for x in self._exits(source):
            yield arrow((x, self.top(source)), (x, bottom + 0.6))

    def _exits(self, one: str) -> list[float]:
        """Return the x coordinates of the time steps whose outputs a layer returns."""
        part = self.reading.parts[one]
        steps = self.steps(one)
        if len(part.shape or ()) >= 2 or (part.kind == "input" and self._is_for_steps(one)):
            return steps
        return [steps[-1] if is_recurrent(part) else self.left(one) + self.wide / 2]

    def _is_for_steps(self, one: str) -> bool:
        targets = [self.reading.parts[target] for target in self.reading.targets[one]]
        return any(target.kind == "embedding" or is_recurrent(target) for target in targets)

    def _past(self, source: str, target: str) -> Iterator[Shape]:
        """Yield an arrow that joins two rows of a column and runs around the rows in between."""
        y0, y1 = self.level(source, 0.3), self.level(target, 0.7)
        x = self.left(source) + self.wide + SIDE - 2.0 + 2.8 * self.tracks[source, target]
        path = ((self.right(source), y0), (x, y0), (x, y1), (self.right(target) + 0.6, y1))
        yield arrow(*path, color="accent orange", width=0.9)

    def _state(self, source: str, target: str) -> Iterator[Shape]:
        """Yield the arrow from the last cell of an encoder to the first cell of a decoder."""
        x0, x1 = self.right(source), self.steps(target)[0] - self.cell_width / 2 - 0.6
        if not has_cells(self.reading.parts[target]):
            x1 = self.left(target) - 0.6
        y0, y1 = self.level(source), self.level(target)
        turn = self.left(target) - self.between / 2
        path = ((x0, y0), (x1, y1)) if y0 == y1 else ((x0, y0), (turn, y0), (turn, y1), (x1, y1))
        yield arrow(*path, color="accent purple", width=1.1)
        size = fitting_size("state", x1 - x0 - 2, self.page.size)
        if size and y0 == y1:
            yield words((x0 + x1) / 2, y0 - 2.5, "state", size, quiet=True)

    def _from_the_side(self, source: str, target: str) -> Iterator[Shape]:
        """Yield lines up from the time steps of `source`, and an arrow from them to `target`."""
        level = self.level(target)
        exits = self._exits(source)
        for x in exits:
            yield arrow((x, self.top(source)), (x, level), head=False)
        yield arrow((exits[0], level), (self.left(target) - 0.6, level))

    # --- rows ---

    def _cells(self, one: str, part: Part) -> Iterator[Shape]:
        """Yield the marks of a recurrent layer: its states, its cells and its name."""
        top, wide, middle = self.top(one), self.cell_width, self.level(one)
        steps = self.steps(one)
        for a, b in pairwise(steps):
            for ends in self._state_lines(part, a, b, wide / 2, middle):
                yield arrow(*ends, color="accent purple", width=0.9)
        dots = self.left(one) + DOTS * self.wide
        yield ground(dots - 4.5, middle - 4.0, 9.0, 8.0)
        yield words(dots, middle + 1.5, ELLIPSIS, self.page.size)
        name = self._cell_name(part)
        size = fitting_size(name, wide - 0.5, self.page.size)
        text = name if size else shortened(name, wide - 0.5, SMALLEST)
        for number, x in enumerate(steps):
            data = None if number else part.data
            yield box(x - wide / 2, top, wide, self.cell, "recurrent", data, corner=3.0)
            yield words(x, middle + 2.3, text, size or SMALLEST)
        title, _ = words_of(part)
        units = str(part.channels) if part.shape else ""
        width = (CELLS[2] - CELLS[1]) * self.wide - 3.0
        choices = [f"{title}, {units}", units] if units else [title]
        below = next((t for t in choices if padded_width(t, SMALLEST) <= width), choices[-1])
        yield words(dots, top + self.cell + SMALLEST + 1.0, below, SMALLEST, quiet=True)

    @staticmethod
    def _state_lines(
        part: Part, a: float, b: float, half: float, y: float
    ) -> Iterator[tuple[Point, Point]]:
        if not is_both_ways(part):
            yield (a + half, y), (b - half - 0.6, y)
            return
        yield (a + half, y - 3.0), (b - half - 0.6, y - 3.0)
        yield (b - half, y + 3.0), (a + half + 0.6, y + 3.0)

    @staticmethod
    def _cell_name(part: Part) -> str:
        if is_both_ways(part):
            inside = str(part.node.attrs.get("config", ""))
            known = next((name for name in ("LSTM", "GRU") if name in inside), "RNN")
            return f"Bi{known}"
        return {"SimpleRNN": "RNN"}.get(class_of(part.node), class_of(part.node))

    def _bar(self, one: str, part: Part) -> Iterator[Shape]:
        """Yield the marks of a layer that is not recurrent: a bar across its column, with texts."""
        left, top = self.left(one), self.top(one)
        high, text_high, portrait = self.cell, self.cell, part.portrait
        if portrait:
            text_high = self.page.size + 4.0
            if portrait.bars:
                high, top = high + self.top_extra, top - self.top_extra
        yield box(left, top, self.wide, high, part.kind, part.data, corner=2.2)
        if portrait:
            yield ground(left + 1.0, top + 1.0, self.wide - 2.0, high - 2.0)
            _, tall = strip_size(portrait, 0.0, self.page)
            free = high - text_high - tall - 3.0
            place = left + 3.0, top + text_high + free / 2, self.wide - 6.0, tall
            yield from strip(part, *place, self.page)
        title, facts = words_of(part)
        size, small = self.page.size, max(SMALLEST, self.page.size - 0.6)
        title = shortened(title, self.wide - 8, size, True)
        facts = facts or (str(part.channels) if part.shape and part.kind != "input" else "")
        middle, y = left + self.wide / 2, top + text_high / 2 + size * 0.34
        total = padded_width(title, size, True) + padded_width(facts, small)
        total += 5.0 if facts else 0.0
        half = min(total, self.wide) / 2
        around = (middle - half - 1, top + 2, 2 * half + 2, text_high - 4)
        yield ground(*around, f"under {part.kind}")
        if not facts or total > self.wide - 6:
            yield words(middle, y, title, size, bold=True)
            return
        x = middle - total / 2
        yield words(x, y, title, size, bold=True, anchor="start")
        yield words(x + total, y, facts, small, anchor="end", quiet=True)


def _sentences(reading: Reading) -> Iterator[str]:
    yield "The flow goes up."
    if any(map(has_cells, reading.parts.values())):
        yield "Neighbouring cells are one recurrent layer at successive time steps,"
        yield "the arrows between them its state."
    states = [part for part in reading.parts.values() if part.portrait and is_recurrent(part)]
    if any(part.portrait and part.portrait.name == "state" for part in states):
        yield "The image of a recurrent layer is its state h after each time step."
    if any(part.kind == "attention" for part in reading.parts.values()):
        yield "Attention reads all steps of the column from which an arrow arrives at its side."

"""The form "columns": recurrent nets, unrolled in time, a column for each input.

The flow goes up. A recurrent layer is a row of cells, one for each step of time, of which the first
two and the last are drawn; its state goes from left to right, and from the last cell of an encoder
to the first of its decoder. What is computed for all steps alike is a bar across its column. What a
column takes from another one (attention) comes from the side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

from kerascope.viz.figure.marks import (
    ELLIPSIS,
    SMALLEST,
    Canvas,
    Page,
    fitting_size,
    rounded,
    shortened,
)
from kerascope.viz.figure.reading import Part, Reading, class_of, shape_text, sides_of
from kerascope.viz.figure.words import words_of
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Data, Point, Polygon, Sheet, data_of

MOST_COLUMNS = 3
CELLS = (0.125, 0.4, 0.875)  # where the cells stand, as shares of a column's width
DOTS = 0.6375
TRACKS = 2
SIDE = 9.0  # beside a column: where something goes past a row
OTHER_FONT = 1.16


@dataclass(frozen=True)
class Place:
    """Where a part stands: its column from the left, its row from below."""

    column: int
    row: int


def suits(reading: Reading) -> bool:
    """Return whether a model is recurrent, in columns that only the last one joins.

    Each arrow must have a way of its own: past no other row, and with one of two tracks beside the
    column where it skips rows.
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
    """Return the track beside the column of each arrow that skips rows, short ones inside."""
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
    """Tell whether a part has a state that goes from step to step."""
    return part.kind == "recurrent" or is_both_ways(part)


def is_both_ways(part: Part) -> bool:
    """Tell whether it runs forwards and backwards."""
    return class_of(part.node) == "Bidirectional"


def places_of(reading: Reading) -> dict[str, Place] | None:
    """Return where each part stands, None if they do not stand in columns."""
    places: dict[str, Place] = {}
    columns = 0
    for one, part in reading.parts.items():
        sources = [places[source] for source in reading.sources[one]]
        if not sources:
            places[one] = Place(columns, 0)
            columns += 1
            continue
        column = max(source.column for source in sources)
        beside = 0 if is_recurrent(part) else 1  # a state comes in at the height of the cells
        rows = [s.row + (1 if s.column == column else beside) for s in sources]
        places[one] = Place(column, max(rows))
    distinct = len({*places.values()}) == len(places)
    ends = [one for one, targets in reading.targets.items() if not targets]
    single = len(ends) == 1 and places[ends[0]].column == columns - 1
    return places if distinct and single and columns <= MOST_COLUMNS else None


def columns(reading: Reading, page: Page) -> Sheet:
    """Draw a recurrent model."""
    drawer = _Drawer(reading, page)
    drawer.draw()
    return drawer.canvas.sheet(drawer.height, _legend(reading))


class _Drawer:
    """Draws one model; knows where each row and each column is."""

    def __init__(self, reading: Reading, page: Page) -> None:
        self.reading, self.page = reading, page
        self.canvas = Canvas(page)
        self.places = places_of(reading) or {}
        self.tracks = tracks_of(reading, self.places)
        columns = 1 + max(place.column for place in self.places.values())
        rows = 1 + max(place.row for place in self.places.values())
        self.cell = 15.0 if page.narrow else 19.0
        self.pitch = self.cell + (15.0 if page.narrow else 18.0)
        self.height = rows * self.pitch - (self.pitch - self.cell) + 8.0
        self.between = 22.0 if page.narrow else 40.0
        most = 110.0 if page.narrow else 190.0
        self.wide = min((page.width - 2 * SIDE - 4 - self.between * (columns - 1)) / columns, most)
        taken = columns * self.wide + self.between * (columns - 1)
        self.start = (page.width - taken) / 2

    def left(self, one: str) -> float:
        """Where the column of a part begins."""
        return self.start + self.places[one].column * (self.wide + self.between)

    def right(self, one: str) -> float:
        """Where a bar, or the last cell of a row, ends."""
        if is_recurrent(self.reading.parts[one]):
            return self.steps(one)[-1] + self.cell_width / 2
        return self.left(one) + self.wide

    def top(self, one: str) -> float:
        """Where the row of a part begins."""
        return self.height - 4.0 - self.cell - self.places[one].row * self.pitch

    def steps(self, one: str) -> list[float]:
        """Where the steps of time stand in the column of a part."""
        return [self.left(one) + share * self.wide for share in CELLS]

    @property
    def cell_width(self) -> float:
        """Width of one cell."""
        return self.wide * 0.235

    def draw(self) -> None:
        """Draw all arrows, then all rows."""
        for one in self.reading.parts:
            for source in self.reading.sources[one]:
                self._arrow(source, one)
        for one, part in self.reading.parts.items():
            data = data_of(part.members, shape_text(part.shape))
            if is_recurrent(part):
                self._cells(one, part, data)
            else:
                self._bar(one, part, data)

    # --- arrows ---

    def _arrow(self, source: str, target: str) -> None:
        a, b = self.places[source], self.places[target]
        if a.column == b.column:
            if b.row - a.row == 1:
                self._up(source, target)
            else:
                self._past(source, target)
        elif is_recurrent(self.reading.parts[target]):
            self._state(source, target)
        else:
            self._from_the_side(source, target)

    def _up(self, source: str, target: str) -> None:
        """From row to row: an arrow for each step, or one."""
        bottom = self.top(target) + self.cell
        for x in self._leaving(source):
            self.canvas.line(((x, self.top(source)), (x, bottom + 0.6)))

    def _leaving(self, one: str) -> list[float]:
        """Where what a row gives leaves it: at each step, or at the last if it is no sequence."""
        part = self.reading.parts[one]
        steps = self.steps(one)
        if part.kind == "input" and self._is_for_steps(one):
            return steps
        if len(part.shape or ()) >= 2:
            return steps
        return [steps[-1] if is_recurrent(part) else self.left(one) + self.wide / 2]

    def _is_for_steps(self, one: str) -> bool:
        targets = [self.reading.parts[target] for target in self.reading.targets[one]]
        return any(target.kind == "embedding" or is_recurrent(target) for target in targets)

    def _past(self, source: str, target: str) -> None:
        """Past the rows between."""
        edge = self.left(source) + self.wide
        y0, y1 = self.top(source) + self.cell * 0.3, self.top(target) + self.cell * 0.7
        x = edge + SIDE - 2.0 + 2.8 * self.tracks[source, target]
        color = self.canvas.look.accent("orange")
        path = ((self.right(source), y0), (x, y0), (x, y1), (self.right(target) + 0.6, y1))
        self.canvas.line(path, color=color, width=0.9)

    def _state(self, source: str, target: str) -> None:
        """From the last cell of an encoder to the first cell of a decoder."""
        half = self.cell_width / 2
        recurrent = is_recurrent(self.reading.parts[source])
        x0 = self.steps(source)[-1] + half if recurrent else self.left(source) + self.wide
        x1 = self.steps(target)[0] - half - 0.6
        y0, y1 = self.top(source) + self.cell / 2, self.top(target) + self.cell / 2
        turn = self.left(target) - self.between / 2
        path = ((x0, y0), (x1, y1)) if y0 == y1 else ((x0, y0), (turn, y0), (turn, y1), (x1, y1))
        self.canvas.line(path, color=self.canvas.look.accent("purple"), width=1.1)
        size = fitting_size("state", (x1 - x0) / OTHER_FONT - 2, self.page.size)
        if size and y0 == y1:
            self.canvas.words((x0 + x1) / 2, y0 - 2.5, "state", size=size, quiet=True)

    def _from_the_side(self, source: str, target: str) -> None:
        """From all steps of another column: up, and across to the row that joins them."""
        level = self.top(target) + self.cell / 2
        leaving = self._leaving(source)
        for x in leaving:
            path: tuple[Point, ...] = ((x, self.top(source)), (x, level))
            self.canvas.line(path, head=False)
        self.canvas.line(((leaving[0], level), (self.left(target) - 0.6, level)))

    # --- rows ---

    def _cells(self, one: str, part: Part, data: Data) -> None:
        """Draw a recurrent layer: its cells, the way of its state, its name."""
        canvas, top, wide = self.canvas, self.top(one), self.cell_width
        steps = self.steps(one)
        middle = top + self.cell / 2
        for a, b in pairwise(steps):
            for start, end in self._state_lines(part, a, b, wide / 2, middle):
                canvas.line((start, end), color=canvas.look.accent("purple"), width=0.9)
        dots = self.left(one) + DOTS * self.wide
        wipe = rounded(dots - 4.5, middle - 4.0, 9.0, 8.0, 0)
        canvas.marks.append(Polygon(wipe, canvas.look.ground, "", 0.0))
        canvas.words(dots, middle + 1.5, ELLIPSIS)
        name = self._cell_name(part)
        size = fitting_size(name, (wide - 2) / OTHER_FONT, self.page.size)
        for number, x in enumerate(steps):
            owner = None if number else data
            canvas.rect(x - wide / 2, top, wide, self.cell, "recurrent", corner=3.0, data=owner)
            text = name if size else shortened(name, wide - 2, SMALLEST)
            canvas.words(x, middle + 2.3, text, size=size or SMALLEST)
        title, _ = words_of(part)
        units = str(sides_of(part.shape)[1]) if part.shape else ""
        room = ((CELLS[2] - CELLS[1]) * self.wide - 3.0) / OTHER_FONT
        known = [f"{title}, {units}", units] if units else [title]
        words = next((one for one in known if text_width(one, SMALLEST) <= room), known[-1])
        y = top + self.cell + SMALLEST + 1.0
        canvas.words(dots, y, words, size=SMALLEST, quiet=True)

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

    def _bar(self, one: str, part: Part, data: Data) -> None:
        """Draw what is computed for all steps alike."""
        canvas, left, top = self.canvas, self.left(one), self.top(one)
        canvas.rect(left, top, self.wide, self.cell, part.kind, corner=2.2, data=data)
        title, facts = words_of(part)
        size, small = self.page.size, max(SMALLEST, self.page.size - 0.6)
        title = shortened(title, (self.wide - 8) / OTHER_FONT, size, True)
        channels = str(sides_of(part.shape)[1]) if part.shape and part.kind != "input" else ""
        facts = facts or channels
        middle, y = left + self.wide / 2, top + self.cell / 2 + size * 0.34
        wanted = text_width(title, size, True), text_width(facts, small)
        total = sum(wanted) * OTHER_FONT + (5.0 if facts else 0.0)
        if canvas.look.box(part.kind)[2]:  # words on a pattern need a ground
            half = min(total, self.wide) / 2
            wipe = rounded(middle - half - 1, top + 2, 2 * half + 2, self.cell - 4, 0)
            canvas.marks.append(Polygon(wipe, canvas.look.ground, "", 0.0))
        if not facts or total > self.wide - 6:
            canvas.words(middle, y, title, bold=True)
            return
        x = middle - total / 2
        canvas.words(x, y, title, bold=True, anchor="start")
        canvas.words(x + total, y, facts, size=small, anchor="end", quiet=True)


def _legend(reading: Reading) -> str:
    sentences = [
        "The flow goes up; cells beside each other are one recurrent layer at steps of time,",
        "arrows between them its state.",
    ]
    if any(part.kind == "attention" for part in reading.parts.values()):
        sentences.append("Attention sees all steps of the column from which it has its side arrow.")
    return " ".join(sentences)

"""Panels as marks on a sheet and as text: small panels with numbers, larger ones as images.

Colour is never the only information: small panels show their numbers, every panel shows the ends of
its scale, and NaN and infinite numbers have symbols in their cells and are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kerascope.trace.statistics import figure
from kerascope.viz.sheet import Label, Line, Raster, Rectangle, Shape, Sheet, moved, padded_width
from kerascope.viz.tensors.panels import Panel, Panels, ordinal, thinned
from kerascope.viz.tensors.scales import (
    LEVELS,
    MINUS_INF,
    NAN,
    ODD_LEVELS,
    PLUS_INF,
    Scale,
    roles_of,
)

MARGIN, GAP = 16.0, 12.0
TITLE, HEADING, LINE, SMALL = 15.0, 13.0, 10.5, 9.0
CELL_HEIGHT, CELL_PADDING = 20.0, 5.0
WIDTH = 760.0  # approximate width of a row of panels
LARGEST_CELL, WIDEST_PANEL, NARROWEST_PANEL = 18.0, 640.0, 72.0
MOST_SIGNS = 400  # symbols in the cells of one panel's image
SIGN = 5.0  # the smallest size of a symbol in an image
LEGEND_WIDTH, LEGEND_HEIGHT, LEGEND_STEPS = 200.0, 10.0, 50
ODD_SIGNS = {NAN: "NaN", PLUS_INF: "+Inf", MINUS_INF: "-Inf"}


@dataclass(frozen=True)
class HeatMaps:
    """The panels of one or more arrays, with a common title.

    Attributes
    ----------
    title : str
    parts : tuple of Panels
        The panels of each array.
    """

    title: str
    parts: tuple[Panels, ...]

    @property
    def description(self) -> str:
        """The titles and summaries of all arrays, as one text."""
        return ". ".join(f"{part.title}: {part.summary}" for part in self.parts)

    def sheet(self) -> Sheet:
        """Return the picture as marks on a sheet."""
        shapes: list[Shape] = [Label(MARGIN, MARGIN + TITLE, self.title, TITLE, bold=True)]
        y = MARGIN + TITLE + 12
        for part in self.parts:
            drawn, y = _part(part, y)
            shapes += drawn
        width = max(map(_right_end, shapes)) + MARGIN
        return Sheet(width, y + 2, tuple(shapes), self.title, self.description)

    def text(self, width: int, ascii_only: bool = False) -> str:
        """Return the picture as text."""
        lines = [self.title]
        for part in self.parts:
            lines += ["", *part_lines(part, width, ascii_only)]
        return "\n".join(lines)


def _right_end(shape: Shape) -> float:
    if isinstance(shape, Label):
        width = padded_width(shape.text, shape.size, shape.bold)
        return shape.x + width * {"start": 1.0, "middle": 0.5, "end": 0.0}[shape.anchor]
    if isinstance(shape, (Rectangle, Raster)):
        return shape.x + shape.width
    return max(x for x, _ in shape.points) if isinstance(shape, Line) else 0.0


# --- a part ---------------------------------------------------------------------------------------


def _part(part: Panels, y: float) -> tuple[list[Shape], float]:
    """Return the marks of an array's panels, which begin at `y`, and the y of their lower end."""
    shapes: list[Shape] = []
    for text, size, role in (
        (part.title, HEADING, "text"), (part.summary, LINE, "quiet"),
        (_axes_words(part), LINE, "quiet"),
    ):  # fmt: skip
        if text:
            y += size + 4
            shapes.append(Label(MARGIN, y, text, size, role, bold=role == "text"))
    for note in part.notes:
        y += LINE + 4
        shapes.append(Label(MARGIN, y, note, LINE, "quiet"))
    y += GAP
    if part.colours:
        drawn, y = _colour_images(part, y)
        shapes += drawn
    draw = _numbers if part.has_numbers else _image
    panels = [draw(panel, part) for panel in part.panels]
    wide = max((width for _, width, _ in panels), default=0.0)
    in_row = part.panels_in_row or _even(len(panels), int((WIDTH + GAP) // (wide + GAP)))
    row_end = y
    for place, (drawn, _, height) in enumerate(panels):
        if place and place % in_row == 0:
            y = row_end + GAP
        x = MARGIN + place % in_row * (wide + GAP)
        shapes += [moved(shape, x, y) for shape in drawn]
        row_end = max(row_end, y + height)
    y = row_end + GAP
    if part.is_shared and any(panel.values.size for panel in part.panels):
        shapes += _legend(part, y)
        y += LEGEND_HEIGHT + SMALL + GAP
    return shapes, y + GAP


def _even(panels: int, most: int) -> int:
    """Return the number of panels per row with which all rows are about equally long.

    Examples
    --------
    >>> _even(8, 7), _even(64, 9), _even(3, 7)
    (4, 8, 3)
    """
    most = max(most, 1)
    rows = -(-panels // most) or 1
    return -(-panels // rows) or 1


PIXEL, COLOUR_IMAGE = 9.0, 56.0  # sizes of a cell and, approximately, of a colour image


def _colour_images(part: Panels, y: float) -> tuple[list[Shape], float]:
    """Return the marks of an array's small colour images, and the y of their lower end.

    The images begin at `y` and are side by side, in several rows if necessary.
    """
    words = "channels 0, 1, 2 as red, green and blue: 0 is grey, negative numbers are darker"
    shapes: list[Shape] = [Label(MARGIN, y + SMALL, words, LINE, "quiet")]
    x, y = MARGIN, y + LINE + GAP
    for title, image in part.colours:
        rows, columns, _ = image.shape
        side = min(PIXEL, COLOUR_IMAGE / max(rows, columns, 1))
        wide = max(columns * side, padded_width(title, SMALL))
        if x + wide > WIDTH + MARGIN and x > MARGIN:
            x, y = MARGIN, y + rows * side + SMALL + GAP
        for row, column in np.ndindex(rows, columns):
            role = "rgb-" + bytes(image[row, column].tolist()).hex().upper()
            shapes.append(Rectangle(x + column * side, y + row * side, side, side, role))
        shapes.append(Rectangle(x, y, columns * side, rows * side, "", "frame"))
        shapes.append(Label(x, y + rows * side + SMALL + 2, title, SMALL, "quiet"))
        x += wide + GAP
        bottom = y + rows * side + SMALL + 2
    return shapes, bottom + GAP


def _axes_words(part: Panels) -> str:
    words = (("rows", part.rows), ("columns", part.columns))
    return ", ".join(
        f"{what}: {name}" for what, name in words if name.strip() and name != what[:-1]
    )


def _heading(panel: Panel, part: Panels) -> tuple[str, str]:
    """Return the title of a panel, and a line with its scale and counts of NaN and infinities."""
    low, high = (figure(x, 3) for x in (panel.scale.low, panel.scale.high))
    own = "" if part.is_shared else f"{low} to {high}"
    alarm = f"✗ {panel.alarm}" if panel.alarm and len(part.panels) > 1 else ""
    return panel.title, "  ".join(filter(None, (own, alarm)))


def _head_shapes(panel: Panel, part: Panels) -> tuple[list[Shape], float]:
    shapes: list[Shape] = []
    y = 0.0
    for text, role in zip(_heading(panel, part), ("text", "quiet"), strict=True):
        if text:
            y += SMALL + 3
            shapes.append(Label(0, y - 2, text, SMALL, role))
    return shapes, y + (2 if y else 0)


def _numbers(panel: Panel, part: Panels) -> tuple[list[Shape], float, float]:
    """Return the marks of a panel with a number in each cell, and the size of the panel."""
    shapes, top = _head_shapes(panel, part)
    words = [[_written(x) for x in row] for row in panel.values.tolist()]
    every = [word for row in words for word in row]
    columns = panel.column_labels if len(panel.column_labels) > 1 else ()
    rows = panel.row_labels if len(panel.row_labels) > 1 else ()
    wide = max(
        [padded_width(w, LINE) for w in every] + [padded_width(w, SMALL) for w in columns] + [18]
    )
    wide += 2 * CELL_PADDING
    left = max((padded_width(word, SMALL) for word in rows), default=0) + (5 if rows else 0)
    for column, label in enumerate(columns):
        shapes.append(
            Label(left + (column + 0.5) * wide, top + SMALL, label, SMALL, "quiet", "middle")
        )
    top += SMALL + 4 if columns else 0
    levels = panel.scale.levels(panel.values)
    for row, line in enumerate(words):
        y = top + row * CELL_HEIGHT
        if rows:
            shapes.append(Label(left - 5, y + 14, rows[row], SMALL, "quiet", "end"))
        for column, word in enumerate(line):
            role, x = panel.scale.role(int(levels[row, column])), left + column * wide
            data = {"row": row, "column": column}
            shapes.append(Rectangle(x, y, wide, CELL_HEIGHT, role, "ground", data=data))
            shapes.append(Label(x + wide / 2, y + 14, word, LINE, f"on-{role}", "middle"))
    width = max(left + wide * panel.values.shape[1], *(_right_end(s) for s in shapes), 0)
    return shapes, width, top + CELL_HEIGHT * len(words)


def _written(number: float) -> str:
    if np.isnan(number):
        return "NaN"
    return f"{'+' if number > 0 else '-'}Inf" if np.isinf(number) else figure(number, 3)


def _image(panel: Panel, part: Panels) -> tuple[list[Shape], float, float]:
    """Return the marks of a panel as an image with labels at its sides, and the panel's size."""
    shapes, top = _head_shapes(panel, part)
    rows, columns = panel.values.shape
    side = WIDEST_PANEL if len(part.panels) == 1 else 260.0 if len(part.panels) <= 4 else 84.0
    cell = min(max(side / max(rows, columns, 1), 1.0), LARGEST_CELL)
    cell = float(int(cell)) if cell >= 1 else cell
    # With few rows and many columns, or few columns and many rows, cells are not square.
    wide = max(cell, min(LARGEST_CELL, NARROWEST_PANEL / max(columns, 1)))
    high = max(cell, min(LARGEST_CELL, 40.0 / max(rows, 1)))
    if _are_names(panel.row_labels):  # make space for every name
        high = max(high, SMALL + 4)
    width, height = columns * wide, rows * high
    left = 0.0
    if len(part.panels) <= 16 and min(rows, columns) > 0:
        marks, left, top = _tick_labels(panel, top, wide, high)
        shapes += marks
    levels = panel.scale.levels(panel.values)
    name = f"{part.title} {panel.title}".strip()
    shapes.append(Raster(left, top, width, height, levels, roles_of(panel.scale.letter), name))
    shapes.append(Rectangle(left, top, width, height, "", "frame"))
    shapes += _odd_cells(levels, left, top, wide, high)
    right = max(_right_end(shape) for shape in shapes)
    return shapes, max(left + width, right), top + height


def _are_names(labels: Sequence[str]) -> bool:
    return not all(label.isdecimal() for label in labels)


def _tick_labels(
    panel: Panel, top: float, wide: float, high: float
) -> tuple[list[Shape], float, float]:
    """Return the row and column labels that fit beside an image, and the image's (x, y)."""
    rows, columns = panel.row_labels, panel.column_labels
    own = [_spaced(len(rows), (SMALL + 3) / high)] if len(rows) > 1 else [[]]
    widest = max((padded_width(label, SMALL) for label in columns), default=0) + 8
    own.append(_spaced(len(columns), widest / wide) if len(columns) > 1 else [])
    left = max((padded_width(rows[i], SMALL) for i in own[0]), default=0.0) + (4 if own[0] else 0)
    shapes: list[Shape] = [
        Label(left + (i + 0.5) * wide, top + SMALL, columns[i], SMALL, "quiet", "middle")
        for i in own[1]
    ]
    top += SMALL + 4 if own[1] else 0
    shapes += [
        Label(left - 4, top + (i + 0.5) * high + 3, rows[i], SMALL, "quiet", "end") for i in own[0]
    ]
    return shapes, left, top


def _spaced(number: int, least: float) -> list[int]:
    """Return the indices 0, d, 2 d, ... below `number`, where d >= `least` is a round number."""
    for step in (m * 10**k for k in range(9) for m in (1, 2, 5)):
        if step >= least:
            return list(range(0, number, step))
    return [0]


def _odd_cells(
    levels: np.ndarray, left: float, top: float, wide: float, high: float
) -> Iterator[Shape]:
    """Yield a cross over each NaN, an arrow up over +Inf and an arrow down over -Inf."""
    for row, column in np.argwhere(levels >= LEVELS)[:MOST_SIGNS].tolist():
        x, y = left + (column + 0.5) * wide, top + (row + 0.5) * high
        a, b = max(wide, SIGN) / 2, max(high, SIGN) / 2
        level = int(levels[row, column])
        role = ODD_LEVELS[level]
        if min(wide, high) < SIGN:  # a single cell is easy to overlook
            yield Rectangle(x - a, y - b, 2 * a, 2 * b, role)
        if level == NAN:
            lines: Sequence[tuple[tuple[float, float], ...]] = (
                ((x - a, y - b), (x + a, y + b)), ((x - a, y + b), (x + a, y - b)),
            )  # fmt: skip
        else:
            b = b if level == PLUS_INF else -b
            lines = (((x - a, y + b / 2), (x, y - b / 2), (x + a, y + b / 2)),)
        for points in lines:
            yield Line(points, f"on-{role}", 1.2)


def _odd_levels_in(part: Panels) -> list[int]:
    """Return which of the levels for NaN, infinity and -infinity occur in the panels."""
    values = [panel.values for panel in part.panels]
    tests = ((NAN, np.isnan), (PLUS_INF, np.isposinf), (MINUS_INF, np.isneginf))
    return [level for level, test in tests if any(test(x).any() for x in values)]


def _legend(part: Panels, y: float) -> Iterator[Shape]:
    """Yield the marks of the legend: the colour scale if any number is finite, and symbols.

    The symbols are those for NaN and infinite numbers.
    """
    x = MARGIN
    if any(np.isfinite(panel.values).any() for panel in part.panels):
        yield from _ramp(part.scale, y)
        x += LEGEND_WIDTH + 2 * GAP
    for level in _odd_levels_in(part):
        word = dict(part.odd_words).get(level, ODD_SIGNS[level])
        yield Rectangle(x, y, LEGEND_HEIGHT, LEGEND_HEIGHT, ODD_LEVELS[level])
        yield from _odd_cells(np.array([[level]]), x, y, LEGEND_HEIGHT, LEGEND_HEIGHT)
        yield Label(x + LEGEND_HEIGHT + 4, y + SMALL, word, SMALL, "quiet")
        x += LEGEND_HEIGHT + 4 + padded_width(word, SMALL) + GAP


def _ramp(scale: Scale, y: float) -> Iterator[Shape]:
    """Yield the marks of a colour scale, with the numbers at its ends and in the middle."""
    wide = LEGEND_WIDTH / LEGEND_STEPS
    for step in range(LEGEND_STEPS):
        level = round(step / (LEGEND_STEPS - 1) * (LEVELS - 1))
        yield Rectangle(MARGIN + step * wide, y, wide, LEGEND_HEIGHT, scale.role(level))
    yield Rectangle(MARGIN, y, LEGEND_WIDTH, LEGEND_HEIGHT, "", "frame")
    shares = (0.0, 0.5, 1.0) if scale.low < scale.high else (0.0,)
    for share in shares:
        anchor = {0.0: "start", 0.5: "middle", 1.0: "end"}[share]
        place = MARGIN + share * LEGEND_WIDTH
        text = figure(scale.number(share), 3)
        yield Label(place, y + LEGEND_HEIGHT + SMALL + 2, text, SMALL, "quiet", anchor)


# --- as text --------------------------------------------------------------------------------------

MOST_IN_TEXT = 12  # panels
TALLEST = 24  # rows of characters
SIGNS = {  # by ascii_only: from zero up, from zero down, NaN, +Inf and -Inf
    False: (" ░▒▓█", " -=≡≣", "✗", "▲▼"),
    True: (" .+*#", " -=%@", "X", "^v"),
}


def part_lines(part: Panels, width: int, ascii_only: bool) -> Iterator[str]:
    """Yield the panels of an array as lines of text.

    Small panels show numbers. Larger panels show a character for each number, with a legend.
    """
    summary = part.summary.replace(" · ", ", ") if ascii_only else part.summary
    yield from (x[:width] for x in (part.title, summary, _axes_words(part), *part.notes) if x)
    shown = part.panels[:MOST_IN_TEXT]
    blocks = [_text_block(panel, part, width, ascii_only) for panel in shown]
    yield from _side_by_side(blocks, width)
    if len(part.panels) > len(shown):
        yield f"{len(part.panels) - len(shown)} more panels are in the picture: .save('maps.svg')"
    if not all(block.has_numbers for block in blocks) and part.is_shared:
        yield from _text_legend(part, width, ascii_only)


@dataclass(frozen=True)
class _Block:
    lines: tuple[str, ...]
    has_numbers: bool

    @property
    def width(self) -> int:
        return max(map(len, self.lines), default=0)


def _text_block(panel: Panel, part: Panels, width: int, ascii_only: bool) -> _Block:
    head = [line for line in _heading(panel, part) if line]
    if ascii_only:
        head = [line.replace("✗", "X") for line in head]
    if part.has_numbers:
        lines = _number_lines(panel)
        if max(map(len, lines), default=0) <= width:
            return _Block((*(line[:width] for line in head), *lines), True)
    rows, columns = panel.values.shape
    most = width if len(part.panels) == 1 else min(width, 32)
    names = panel.row_labels if _are_names(panel.row_labels) else ("",) * rows
    left = min(max(map(len, names), default=0), width // 3)
    steps = -(-rows // TALLEST) or 1, -(-columns // (most - (left and left + 1))) or 1
    values = thinned(panel.values, steps)
    lines = [
        name[:left].ljust(left and left + 1) + "".join(signs_of(row, panel.scale, ascii_only))
        for name, row in zip(names[:: steps[0]], values, strict=True)
    ]
    if max(steps) > 1:
        every = (("row", steps[0]), ("column", steps[1]))
        head.append("in text: " + ", ".join(f"every {ordinal(n)} {w}" for w, n in every if n > 1))
    return _Block((*(line[:width] for line in head), *lines), False)


def _number_lines(panel: Panel) -> list[str]:
    words = [[_written(x) for x in row] for row in panel.values.tolist()]
    labels = panel.column_labels if len(panel.column_labels) > 1 else ("",) * len(words[0][:1])
    if len(panel.column_labels) <= 1:
        labels = ("",) * panel.values.shape[1]
    rows = panel.row_labels if len(panel.row_labels) > 1 else ("",) * len(words)
    wide = [max(map(len, column)) for column in zip(labels, *words, strict=True)]
    left = max(map(len, rows), default=0)
    table = (
        [("", labels), *zip(rows, words, strict=True)]
        if any(labels)
        else [*zip(rows, words, strict=True)]
    )
    return [
        " ".join(
            [name.rjust(left), *(w.rjust(n) for w, n in zip(line, wide, strict=True))]
        ).rstrip()
        for name, line in table
    ]


def signs_of(values: np.ndarray, scale: Scale, ascii_only: bool) -> list[str]:
    """Return the character for each number of a panel, by its level on the colour scale.

    Examples
    --------
    >>> numbers = np.array([-1.0, -0.4, 0.0, 0.4, 1.0, np.nan, np.inf])
    >>> "".join(signs_of(numbers, Scale.of(numbers), ascii_only=True))
    '@= +#X^'
    """
    up, down, nan, infinite = SIGNS[ascii_only]
    last = len(up) - 1
    found = []
    for level in scale.levels(values).tolist():
        if level == NAN:
            found.append(nan)
        elif level in (PLUS_INF, MINUS_INF):
            found.append(infinite[level == MINUS_INF])
        elif scale.is_diverging:
            share = 2 * level / (LEVELS - 1) - 1
            found.append((up if share > 0 else down)[round(abs(share) * last)])
        else:
            found.append(up[round(level / (LEVELS - 1) * last)])
    return found


def _side_by_side(blocks: Sequence[_Block], width: int) -> Iterator[str]:
    waiting = list(blocks)
    while waiting:
        row = [waiting.pop(0)]
        while waiting and sum(b.width + 2 for b in row) + waiting[0].width <= width:
            row.append(waiting.pop(0))
        for i in range(max(len(block.lines) for block in row)):
            cells = [(b.lines[i] if i < len(b.lines) else "").ljust(b.width) for b in row]
            yield "  ".join(cells).rstrip()
        if waiting:
            yield ""


def _text_legend(part: Panels, width: int, ascii_only: bool) -> Iterator[str]:
    scale = part.scale
    up, down, nan, infinite = SIGNS[ascii_only]
    first, last = (0.5, 0.5) if scale.is_diverging else (0.0, 1.0)
    steps = range(len(up))
    entries = [(sign, first + last * i / steps[-1]) for i, sign in zip(steps, up, strict=True)]
    entries = entries if scale.low < scale.high else entries[:1]
    if scale.is_diverging:
        entries = [(down[i], 0.5 - 0.5 * i / steps[-1]) for i in steps[:0:-1]] + entries
    words = [f"'{sign}' {figure(scale.number(share), 2)}" for sign, share in entries]
    odd = {NAN: nan, PLUS_INF: infinite[0], MINUS_INF: infinite[1]}
    meanings = {**ODD_SIGNS, **dict(part.odd_words)}
    words += [f"{odd[level]} {meanings[level]}" for level in _odd_levels_in(part)]
    line = ""
    for word in words:
        if len(line) + len(word) + 2 > width:
            yield line
            line = ""
        line += f"{'  ' if line else ''}{word}"
    yield line

"""A canvas of characters, and the text and borders of boxes on it.

For each cell, a line is stored as the directions in which it leaves the cell. So corners and
branches result automatically, and a cell in which two different lines meet is a crossing. The text
of a box is complete, shortened, or on one line, depending on the `Density`. Each drawn frame level
is a `Block`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from rich.cells import cell_len

from kerascope.viz.boxes import PictureOptions, box_text
from kerascope.viz.graph import GraphNode
from kerascope.viz.theme import OKABE_ITO, state_of, style_of

# --- lines and texts on a canvas ------------------------------------------------------------------

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_CHARACTERS = " │││─╯╮┤─╰╭├─┴┬╋"
_PLAIN = " |||-'.|-'.|-'.*"
_BROKEN = {"│": "╎", "─": "╌"}


@dataclass(slots=True)
class CanvasCell:
    """The content of one cell of a canvas.

    Attributes
    ----------
    lines : dict of line to int
        For each line in the cell, the directions in which it leaves the cell.
    broken : bool
        Whether the lines in the cell are dashed.
    word : str
        A character of a text, a box or an arrow head, which hides lines.
    style : str
        The style of the character, as rich names it.
    """

    lines: dict[Hashable, int] = field(default_factory=dict)
    broken: bool = False
    word: str | None = None
    style: str = ""

    def character(self, ascii_only: bool) -> str:
        """Return the cell's character: that of its text or, without a text, that of its lines."""
        if self.word is not None:
            return self.word
        if len(self.lines) > 1:
            return "+" if ascii_only else "┼"
        mask = next(iter(self.lines.values()), 0)
        if ascii_only:
            return ":" if self.broken and mask in (1, 2, 3) else _PLAIN[mask]
        shown = _CHARACTERS[mask]
        return _BROKEN.get(shown, shown) if self.broken else shown


class TextCanvas:
    """A drawing area of `CanvasCell` by (column, line), which grows as needed."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], CanvasCell] = {}

    def vertical(self, line: Hashable, x: int, top: int, bottom: int, broken: bool = False) -> None:
        """Draw a vertical line through the cells from `top` to `bottom`, both included."""
        for y in range(top, bottom + 1):
            mask = (UP if y > top else 0) | (DOWN if y < bottom else 0)
            self.join(line, x, y, mask, broken)

    def horizontal(self, line: Hashable, y: int, left: int, right: int, broken: bool) -> None:
        """Draw a horizontal line through the cells from `left` to `right`, both included."""
        for x in range(left, right + 1):
            mask = (LEFT if x > left else 0) | (RIGHT if x < right else 0)
            self.join(line, x, y, mask, broken)

    def join(self, line: Hashable, x: int, y: int, mask: int, broken: bool = False) -> None:
        """Add directions to those in which a line leaves a cell."""
        cell = self.cells.setdefault((x, y), CanvasCell())
        cell.lines[line] = cell.lines.get(line, 0) | mask
        cell.broken = broken

    def write(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write a text from a cell to the right; wide characters take two cells."""
        for character in text:
            width = cell_len(character)
            if not width and (x - 1, y) in self.cells:
                before = self.cells[x - 1, y]
                before.word = (before.word or "") + character
                continue
            self.cells[x, y] = CanvasCell(word=character, style=style)
            for step in range(1, width):
                self.cells[x + step, y] = CanvasCell(word="", style=style)
            x += width

    def is_free(self, x: int, y: int, width: int) -> bool:
        """Return whether `width` cells from (x, y) to the right are empty."""
        return not any((x + step, y) in self.cells for step in range(width))

    def paste(self, other: TextCanvas, x: int, y: int) -> None:
        """Copy the cells of another canvas to this one, shifted by (x, y)."""
        for (column, line), cell in other.cells.items():
            self.cells[column + x, line + y] = cell

    def lines(self, ascii_only: bool) -> list[list[tuple[str, str]]]:
        """Return the characters of the canvas, line by line, as (character, style)."""
        height = 1 + max((y for _, y in self.cells), default=-1)
        shown: list[list[tuple[str, str]]] = [[] for _ in range(height)]
        for x, y in sorted(self.cells):
            row = shown[y]
            row.extend((" ", "") for _ in range(x - len(row)))
            cell = self.cells[x, y]
            row.append((cell.character(ascii_only), cell.style))
        return shown


# --- the text of a box ----------------------------------------------------------------------------

_PLAIN_WORDS = {"·": "-", "…": "...", "►": "->", "\u00d7": "x", "→": "->", "—": "-"}
_PLAIN_SIGNS = {
    **{"input": "v", "merge": "+", "model": "#", "block": "#", "sum": "S", "op": "."},
    **{"gradient": "g", "slot": "o", "update": "@"},
}


@dataclass(frozen=True)
class Density:
    """The amount of text in each box of a drawing in characters; less text makes it narrower.

    Attributes
    ----------
    boxed : bool
        Whether each box has a border and several lines; otherwise each box is one line.
    words : int
        How much text a box has. 3: all text; 2: without parameters; 1: also without the class;
        0: also without the shape.
    longest : int
        Maximum width of a name, in cells.
    """

    boxed: bool
    words: int = 3
    longest: int = 40


# Densities in the order in which they are tried; names are shortened last.
_NARROW = tuple(Density(False, 0, longest) for longest in (40, 24, 16, 10))
FRAMED = (*(Density(True, words) for words in (3, 2, 1, 0)), Density(True, 0, 16), *_NARROW)
COMPACT = (*(Density(False, words) for words in (3, 2, 1)), *_NARROW)


@dataclass(frozen=True)
class BoxLines:
    """The lines of a box, each with its style for rich, and its numbers of inputs and outputs."""

    lines: tuple[tuple[str, str], ...]
    inputs: int = 0
    outputs: int = 0

    @property
    def width(self) -> int:
        """The width of the longest line of the box, in cells."""
        return max(cell_len(line) for line, _ in self.lines)


def lines_of_box(
    node: GraphNode, options: PictureOptions, density: Density, ascii_only: bool
) -> BoxLines:
    """Return the lines of text of a box, with as much text as `density` allows.

    Examples
    --------
    >>> node = GraphNode("d", "scores", "dense", attrs={"class_name": "Dense"})
    >>> lines_of_box(node, PictureOptions(), Density(False), False).lines[0][0]
    '■ scores Dense'
    """
    text = box_text(node, options)
    state = state_of(node.attrs.get("state", ""))
    sign = (state.plain if ascii_only else state.glyph) if state else text.sign
    if ascii_only and not state:
        sign = _PLAIN_SIGNS.get(node.kind, "*")
    title = f"{sign} {fitted(plain(text.title, ascii_only), density.longest, ascii_only)}"
    marks = [mark.removeprefix("same layer, ") for mark in text.marks]
    if state is not None and marks and not node.attrs.get("note"):
        marks.pop()  # the glyph already shows the state
    quiet = [_without(line, density.words) for line in _lines(node, text.lines, density.words)]
    if text.outputs and density.words and options.show_shapes:
        quiet.append(str(node.attrs.get("output_shapes", "")))
    rest = [plain(line, ascii_only) for line in [*quiet, *marks] if line]
    hue = state.hue if state else style_of(node.kind).hue
    color = "" if hue == "black" else OKABE_ITO[hue]
    if density.boxed:
        lines = [(title, f"bold {color}".strip()), *((line, "dim") for line in rest)]
    else:
        lines = [(" ".join([title, *rest]), color)]
    counts = (int(node.attrs.get(key, 0)) for key in ("input_count", "output_count"))
    return BoxLines(tuple(lines), *counts)


def _lines(node: GraphNode, lines: tuple[str, ...], words: int) -> list[str]:
    """Return the lines below a box's title that a `Density` allows; the shape is dropped last."""
    shape = str(node.attrs.get("output_shapes", ""))
    if words >= 2:
        return list(lines)
    return [line for line in lines if words == 1 and line == shape]


def _without(line: str, words: int) -> str:
    """Return a line of a box, without the number of parameters if the `Density` omits it."""
    if words >= 3:
        return line
    parts = [part for part in line.split(" · ") if not part.endswith((" params", " param"))]
    return " · ".join(parts)


def plain(text: str, ascii_only: bool) -> str:
    r"""Return a text; with `ascii_only`, characters outside ASCII are escaped.

    Examples
    --------
    >>> plain("größe · 日", True)
    'gr\\xf6\\xdfe - \\u65e5'
    """
    if not ascii_only or text.isascii():
        return text
    text = "".join(_PLAIN_WORDS.get(character, character) for character in text)
    return text.encode("ascii", "backslashreplace").decode("ascii")


def fitted(text: str, width: int, ascii_only: bool = False) -> str:
    """Return a text of at most `width` cells; the middle of a longer one becomes "…".

    Examples
    --------
    >>> fitted("conv2_block1_out", 10)
    'conv2…_out'
    """
    if cell_len(text) <= width:
        return text
    dots = ".." if ascii_only else "…"
    kept = max(width - len(dots), 0)
    begin = _cut(text, kept - kept * 4 // 9)
    end = _cut(text[::-1], kept - cell_len(begin))[::-1]
    return (begin + dots + end)[: max(width, 1)]


def _cut(text: str, width: int) -> str:
    taken = 0
    for number, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:number]
    return text


# --- drawn boxes and levels -----------------------------------------------------------------------

Spot = tuple[int, int, int, int]  # left, top, width, height


@dataclass
class Block:
    """The drawing of a frame level, with the positions that are needed to place it in another.

    Attributes
    ----------
    canvas : TextCanvas
    width, height : int
    doors : dict of (str, int) to int
        Column at which each arrow crosses the border, by ("entry" or "exit", index of the arrow).
    spots : dict of str to (int, int, int, int)
        Position of each box: left, top, width, height.
    depths : list of (int, int)
        Depth and first line of each row.
    """

    canvas: TextCanvas
    width: int
    height: int
    doors: dict[tuple[str, int], int] = field(default_factory=dict)
    spots: dict[str, Spot] = field(default_factory=dict)
    depths: list[tuple[int, int]] = field(default_factory=list)


def draw_box(canvas: TextCanvas, box: BoxLines, spot: Spot, boxed: bool, ascii_only: bool) -> None:
    """Draw a box: its lines inside a border, or one line without a border."""
    left, top, width, height = spot
    if not boxed:
        text, style = box.lines[0]
        canvas.write(left, top, " " * ((width - cell_len(text)) // 2) + text, style)
        return
    bar, side = ("-", "|") if ascii_only else ("─", "│")
    corners = "++++" if ascii_only else "╭╮╰╯"
    canvas.write(left, top, corners[0] + bar * (width - 2) + corners[1], "dim")
    for line, (text, style) in enumerate(box.lines, start=1):
        before = (width - 2 - cell_len(text)) // 2
        after = width - 2 - cell_len(text) - before
        canvas.write(left, top + line, side, "dim")
        canvas.write(left + 1, top + line, " " * before + text + " " * after, style)
        canvas.write(left + width - 1, top + line, side, "dim")
    canvas.write(left, top + height - 1, corners[2] + bar * (width - 2) + corners[3], "dim")


@dataclass(frozen=True)
class BesideArrow:
    """The look of an arrow between two boxes next to each other.

    Parameters
    ----------
    turned : bool
        Whether the arrow points from the second box to the first.
    broken, ascii_only : bool
        Whether the arrow is dashed, and whether only ASCII characters are used.
    """

    turned: bool
    broken: bool
    ascii_only: bool


def draw_beside(canvas: TextCanvas, first: Spot, last: Spot, arrow: BesideArrow) -> None:
    """Draw the straight arrow between two boxes next to each other."""
    goes_right = first[0] < last[0]
    near, far = (first, last) if goes_right else (last, first)
    left, right = near[0] + near[2], far[0] - 1
    bar = "-" if arrow.ascii_only else ("╌" if arrow.broken else "─")
    heads = "<>" if arrow.ascii_only else "◀▶"
    text = bar * (right - left + 1)
    text = text[:-1] + heads[1] if goes_right != arrow.turned else heads[0] + text[1:]
    canvas.write(left, first[1] + first[3] // 2, text)

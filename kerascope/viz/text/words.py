"""The words of a box in a terminal: whole, with some left out, or on one line."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from kerascope.viz.boxes import PictureOptions, box_text
from kerascope.viz.graph import GraphNode
from kerascope.viz.theme import OKABE_ITO, state_of, style_of

_PLAIN_WORDS = {"·": "-", "…": "...", "►": "->", "\u00d7": "x", "→": "->", "—": "-"}
_PLAIN_SIGNS = {"input": "v", "merge": "+", "model": "#", "block": "#", "sum": "S", "op": "."}


@dataclass(frozen=True)
class Density:
    """How much room boxes take.

    Attributes
    ----------
    boxed : bool
        Whether each stands in a frame of its own, on several lines.
    words : int
        3: all; 2: without parameters; 1: without class; 0: without shape.
    longest : int
        Cells that a name may take.
    """

    boxed: bool
    words: int = 3
    longest: int = 40


# In the order in which they are tried; names become shorter last.
_NARROW = tuple(Density(False, 0, longest) for longest in (40, 24, 16, 10))
ROOMY = (*(Density(True, words) for words in (3, 2, 1, 0)), Density(True, 0, 16), *_NARROW)
COMPACT = (*(Density(False, words) for words in (3, 2, 1)), *_NARROW)


@dataclass(frozen=True)
class Words:
    """The lines of a box, each with its style for rich."""

    lines: tuple[tuple[str, str], ...]
    inputs: int = 0
    outputs: int = 0

    @property
    def width(self) -> int:
        """Cells of the longest line."""
        return max(cell_len(line) for line, _ in self.lines)


def words_of(node: GraphNode, options: PictureOptions, density: Density, ascii_only: bool) -> Words:
    """Return the words of a box.

    Examples
    --------
    >>> node = GraphNode("d", "scores", "dense", attrs={"class_name": "Dense"})
    >>> words_of(node, PictureOptions(), Density(False), False).lines[0][0]
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
        marks.pop()  # the glyph says it
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
    return Words(tuple(lines), *counts)


def _lines(node: GraphNode, lines: tuple[str, ...], words: int) -> list[str]:
    """Return the quiet lines that are kept: the shape goes last."""
    shape = str(node.attrs.get("output_shapes", ""))
    if words >= 2:
        return list(lines)
    return [line for line in lines if words == 1 and line == shape]


def _without(line: str, words: int) -> str:
    """Return a line without the number of parameters, if that is left out."""
    if words >= 3:
        return line
    parts = [part for part in line.split(" · ") if not part.endswith((" params", " param"))]
    return " · ".join(parts)


def plain(text: str, ascii_only: bool) -> str:
    r"""Return a text in ASCII, what is not in it escaped; or as it is.

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
    """Return a text in at most so many cells, its middle left out if need be.

    Examples
    --------
    >>> fitted("conv2_block1_out", 10)
    'conv2…_out'
    """
    if cell_len(text) <= width:
        return text
    dots = ".." if ascii_only else "…"
    room = max(width - len(dots), 0)
    begin = _cut(text, room - room * 4 // 9)
    end = _cut(text[::-1], room - cell_len(begin))[::-1]
    return (begin + dots + end)[: max(width, 1)]


def _cut(text: str, width: int) -> str:
    taken = 0
    for number, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:number]
    return text

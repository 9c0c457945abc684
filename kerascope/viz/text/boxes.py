"""Boxes of characters, and a drawn level as one block."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len

from kerascope.viz.text.canvas import Canvas
from kerascope.viz.text.words import Words

Spot = tuple[int, int, int, int]  # left, top, width, height


@dataclass
class Block:
    """A level that is drawn, and what the level around it has to know.

    Attributes
    ----------
    canvas : Canvas
    width, height : int
    doors : dict of (str, int) to int
        Column of each door, by ("entry" or "exit", the arrow's number).
    spots : dict of str to (int, int, int, int)
        Where each box stands: left, top, width, height.
    depths : list of (int, int)
        Depth of each row and the line in which it begins.
    """

    canvas: Canvas
    width: int
    height: int
    doors: dict[tuple[str, int], int] = field(default_factory=dict)
    spots: dict[str, Spot] = field(default_factory=dict)
    depths: list[tuple[int, int]] = field(default_factory=list)


def draw_box(canvas: Canvas, words: Words, spot: Spot, boxed: bool, ascii_only: bool) -> None:
    """Draw a box: words in a frame, or one line."""
    left, top, width, height = spot
    if not boxed:
        text, style = words.lines[0]
        canvas.write(left, top, " " * ((width - cell_len(text)) // 2) + text, style)
        return
    bar, side = ("-", "|") if ascii_only else ("─", "│")
    corners = "++++" if ascii_only else "╭╮╰╯"
    canvas.write(left, top, corners[0] + bar * (width - 2) + corners[1], "dim")
    for line, (text, style) in enumerate(words.lines, start=1):
        before = (width - 2 - cell_len(text)) // 2
        after = width - 2 - cell_len(text) - before
        canvas.write(left, top + line, side, "dim")
        canvas.write(left + 1, top + line, " " * before + text + " " * after, style)
        canvas.write(left + width - 1, top + line, side, "dim")
    canvas.write(left, top + height - 1, corners[2] + bar * (width - 2) + corners[3], "dim")


@dataclass(frozen=True)
class BesideArrow:
    """How an arrow between two boxes beside each other looks.

    Parameters
    ----------
    turned : bool
        Whether it points from the second box to the first.
    broken, ascii_only : bool
    """

    turned: bool
    broken: bool
    ascii_only: bool


def draw_beside(canvas: Canvas, first: Spot, last: Spot, arrow: BesideArrow) -> None:
    """Draw the straight arrow from a box to the one beside it."""
    goes_right = first[0] < last[0]
    near, far = (first, last) if goes_right else (last, first)
    left, right = near[0] + near[2], far[0] - 1
    bar = "-" if arrow.ascii_only else ("╌" if arrow.broken else "─")
    heads = "<>" if arrow.ascii_only else "◀▶"
    text = bar * (right - left + 1)
    text = text[:-1] + heads[1] if goes_right != arrow.turned else heads[0] + text[1:]
    canvas.write(left, first[1] + first[3] // 2, text)

"""One box of an SVG: its outline, its words, and the cells of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.graph import GraphNode
from kerascope.viz.layout.measures import (
    CELL_SIZE,
    LINE_HEIGHT,
    LINE_SIZE,
    PADDING_Y,
    SIGN_GAP,
    TITLE_HEIGHT,
    TITLE_SIZE,
    Measure,
)
from kerascope.viz.layout.placed import Rect
from kerascope.viz.layout.text_width import text_width
from kerascope.viz.svg.elements import number, text_element
from kerascope.viz.theme import Style, style_of

ROUND = {"round": 6.0, "square": 0.0, "note": 0.0}
FOLD = 8.0
SHEET = 3.5  # how far the sheets of several copies stand out
MOST_SHEETS = 2


def box_parts(
    node: GraphNode, rect: Rect, measure: Measure, options: PictureOptions
) -> Iterator[str]:
    """Yield the elements of a box, those behind first."""
    style = style_of(node.kind)
    sheets = min(int(node.attrs.get("copies", 1)) - 1, MOST_SHEETS)
    for sheet in range(sheets, 0, -1):
        moved = Rect(rect.x + SHEET * sheet, rect.y + SHEET * sheet, rect.width, rect.height)
        yield _outline(moved, style, 0.0, "line")
    yield _outline(rect, style, 0.0, "line")
    for frame in range(1, style.frames):
        yield _outline(rect, style, 3.0 * frame, "line inner")
    yield from _words(rect, measure, 3.0 * (style.frames - 1))
    yield from _cells(rect, measure, options.rankdir)


def _outline(rect: Rect, style: Style, inset: float, kind: str) -> str:
    x, y = rect.x + inset, rect.y + inset
    width, height = rect.width - 2 * inset, rect.height - 2 * inset
    if style.corners == "note":
        right, bottom = x + width, y + height
        fold = f"{number(right - FOLD)},{number(y)}"
        corner = f"{number(right)},{number(y + FOLD)}"
        return (
            f'<path class="{kind}" d="M{number(x)},{number(y)}L{fold}L{corner}'
            f'V{number(bottom)}H{number(x)}ZM{fold}V{number(y + FOLD)}H{number(right)}"/>'
        )
    radius = ROUND.get(style.corners, height / 2)
    rounded = f' rx="{number(max(radius - inset / 2, 0))}"' if radius else ""
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}"{rounded}/>'
    )


def _words(rect: Rect, measure: Measure, inset: float) -> Iterator[str]:
    left, above, right, below = measure.margins
    middle = rect.x + left + (rect.width - left - right) / 2
    text = measure.text
    lines = len(text.lines) + len(text.marks)
    needed = TITLE_HEIGHT + lines * LINE_HEIGHT + 2 * (PADDING_Y + inset)
    spare = rect.height - above - below - needed
    y = rect.y + above + PADDING_Y + inset + spare / 2 + TITLE_SIZE
    sign = text_width(text.sign, TITLE_SIZE)
    title = text_width(text.title, TITLE_SIZE, True)
    x = middle - (sign + SIGN_GAP + title) / 2
    yield text_element("sign", x, y, text.sign, TITLE_SIZE)
    yield text_element("title", x + sign + SIGN_GAP, y, text.title, TITLE_SIZE, bold=True)
    y += TITLE_HEIGHT - TITLE_SIZE + LINE_SIZE
    for line in text.lines:
        x = middle - text_width(line, LINE_SIZE) / 2
        yield text_element("quiet", x, y, line, LINE_SIZE)
        y += LINE_HEIGHT
    for mark in text.marks:
        x = middle - text_width(mark, LINE_SIZE, True) / 2
        yield text_element("mark", x, y, mark, LINE_SIZE, bold=True)
        y += LINE_HEIGHT


def _cells(rect: Rect, measure: Measure, rankdir: str) -> Iterator[str]:
    """Yield the cells along the sides at which arrows arrive and leave."""
    left, above, right, below = measure.margins
    if rankdir == "LR":
        yield from _column(measure.text.inputs, rect, rect.x, left, rect.x + left)
        yield from _column(
            measure.text.outputs, rect, rect.right - right, right, rect.right - right
        )
    else:
        yield from _row(measure.text.inputs, rect, rect.y, above, rect.y + above)
        yield from _row(measure.text.outputs, rect, rect.bottom - below, below, rect.bottom - below)


def _row(
    cells: tuple[str, ...], rect: Rect, top: float, height: float, border: float
) -> Iterator[str]:
    if not cells:
        return
    wide = rect.width / len(cells)
    lines = [f"M{number(rect.x)},{number(border)}H{number(rect.right)}"]
    lines += [
        f"M{number(rect.x + wide * i)},{number(top)}v{number(height)}" for i in range(1, len(cells))
    ]
    yield f'<path class="cells" d="{"".join(lines)}"/>'
    for i, cell in enumerate(cells):
        x = rect.x + wide * (i + 0.5) - text_width(cell, CELL_SIZE) / 2
        yield text_element("cell", x, top + height / 2 + CELL_SIZE * 0.36, cell, CELL_SIZE)


def _column(
    cells: tuple[str, ...], rect: Rect, left: float, width: float, border: float
) -> Iterator[str]:
    if not cells:
        return
    high = rect.height / len(cells)
    lines = [f"M{number(border)},{number(rect.y)}V{number(rect.bottom)}"]
    lines += [
        f"M{number(left)},{number(rect.y + high * i)}h{number(width)}" for i in range(1, len(cells))
    ]
    yield f'<path class="cells" d="{"".join(lines)}"/>'
    for i, cell in enumerate(cells):
        x = left + width / 2 - text_width(cell, CELL_SIZE) / 2
        y = rect.y + high * (i + 0.5) + CELL_SIZE * 0.36
        yield text_element("cell", x, y, cell, CELL_SIZE)

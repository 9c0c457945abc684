"""How large a box, a frame's title and a caption are, and where their words stand."""

from __future__ import annotations

from dataclasses import dataclass

from kerascope.viz.boxes import BoxText, PictureOptions, box_text, caption_lines, group_text
from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.layout.text_width import text_width
from kerascope.viz.theme import style_of

TITLE_SIZE, LINE_SIZE, CELL_SIZE, CAPTION_SIZE, FRAME_SIZE = 13.0, 10.5, 9.0, 15.0, 12.0
TITLE_HEIGHT, LINE_HEIGHT, CELL_HEIGHT, CAPTION_HEIGHT = 17.0, 13.5, 14.0, 22.0
PADDING_X, PADDING_Y = 11.0, 6.0
CELL_PADDING = 5.0
SIGN_GAP = 5.0
LEAST_WIDTH = 46.0
OVAL_SHARE = 0.25
LEAST_PORT = 7.0  # between two arrows that arrive beside each other


@dataclass(frozen=True, slots=True)
class Measure:
    """The size of a box and the words in it.

    Attributes
    ----------
    text : BoxText
    width, height : float
    margins : tuple of float
        What the cells of inputs and outputs take at the left, top, right and bottom.
    """

    text: BoxText
    width: float
    height: float
    margins: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


def measure(node: GraphNode, options: PictureOptions) -> Measure:
    """Return how large a box has to be for its words and its arrows."""
    text = box_text(node, options)
    style = style_of(node.kind)
    frame = 3.0 * (style.frames - 1)
    sign = text_width(text.sign, TITLE_SIZE) + SIGN_GAP
    widths = [sign + text_width(text.title, TITLE_SIZE, True)]
    widths += [text_width(line, LINE_SIZE) for line in text.lines]
    widths += [text_width(line, LINE_SIZE, True) for line in text.marks]
    width = max(max(widths) + 2 * (PADDING_X + frame), LEAST_WIDTH)
    lines = len(text.lines) + len(text.marks)
    height = TITLE_HEIGHT + lines * LINE_HEIGHT + 2 * (PADDING_Y + frame)
    if style.corners == "oval":  # the first and the last line must keep clear of the round ends
        width += OVAL_SHARE * height
    ports = max(int(node.attrs.get(key, 0)) for key in ("input_count", "output_count")) * LEAST_PORT
    if options.rankdir == "LR":
        left, right = (_column(cells) for cells in (text.inputs, text.outputs))
        cells = max(len(text.inputs), len(text.outputs)) * CELL_HEIGHT
        size = width + left + right, max(height, cells, ports)
        return Measure(text, *size, (left, 0.0, right, 0.0))
    cells = max(_row(text.inputs), _row(text.outputs))
    above, below = (CELL_HEIGHT if row else 0.0 for row in (text.inputs, text.outputs))
    return Measure(text, max(width, cells, ports), height + above + below, (0.0, above, 0.0, below))


def _cell(text: str) -> float:
    return text_width(text, CELL_SIZE) + 2 * CELL_PADDING


def _column(cells: tuple[str, ...]) -> float:
    return max(map(_cell, cells), default=0.0)


def _row(cells: tuple[str, ...]) -> float:
    return max(map(_cell, cells), default=0.0) * len(cells)


def title_size(group: GraphGroup) -> tuple[float, float]:
    """Return width and height of the two lines above the boxes of a frame."""
    name, detail = group_text(group)
    width = max(text_width(name, FRAME_SIZE, True), text_width(detail, LINE_SIZE))
    return width, 16.0 + (LINE_HEIGHT if detail else 0.0)


def caption_size(graph: Graph) -> tuple[float, float]:
    """Return width and height of the caption of a picture."""
    title, *lines = caption_lines(graph)
    widths = [text_width(title, CAPTION_SIZE, True)]
    widths += [text_width(line, LINE_SIZE) for line in lines]
    return max(widths), CAPTION_HEIGHT + len(lines) * LINE_HEIGHT

"""The sizes of boxes, titles of frames, captions and texts.

Texts are measured without a font file. The widths are the published metrics of Helvetica, which
Arial and Liberation Sans share. Pictures name these fonts and embed none. An SVG sets each text to
the width computed here (`textLength`), so in any other font it becomes slightly narrower or wider
and does not overlap its neighbour.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from kerascope.viz.boxes import BoxText, PictureOptions, box_text, caption_lines, group_text
from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.theme import style_of

# --- boxes, titles, captions ----------------------------------------------------------------------

TITLE_SIZE, LINE_SIZE, CELL_SIZE, CAPTION_SIZE, FRAME_SIZE = 13.0, 10.5, 9.0, 15.0, 12.0
TITLE_HEIGHT, LINE_HEIGHT, CELL_HEIGHT, CAPTION_HEIGHT = 17.0, 13.5, 14.0, 22.0
PADDING_X, PADDING_Y = 11.0, 6.0
CELL_PADDING = 5.0
SIGN_GAP = 5.0
LEAST_WIDTH = 46.0
OVAL_SHARE = 0.25
LEAST_PORT = 7.0  # minimum distance between the ends of two arrows at a box


@dataclass(frozen=True, slots=True)
class Measure:
    """The size of a box and its text.

    Attributes
    ----------
    text : BoxText
    width, height : float
    margins : tuple of float
        Sizes of the cells of inputs and outputs at the left, top, right and bottom.
    is_line : bool
        Whether all text of the box is on one line, with the title at the left.
    """

    text: BoxText
    width: float
    height: float
    margins: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    is_line: bool = False


def measure(node: GraphNode, options: PictureOptions) -> Measure:
    """Return the size that a box needs for its text and its arrows."""
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
    counts = [int(node.attrs.get(key, 0)) for key in ("input_count", "output_count")]
    ports = int(node.attrs.get("arrows", max(counts))) * LEAST_PORT
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
    """Return the width and height of the title of a frame, which has one or two lines."""
    name, detail = group_text(group)
    width = max(text_width(name, FRAME_SIZE, True), text_width(detail, LINE_SIZE))
    return width, 16.0 + (LINE_HEIGHT if detail else 0.0)


def caption_size(graph: Graph) -> tuple[float, float]:
    """Return the width and height of the caption of a picture."""
    title, *lines = caption_lines(graph)
    widths = [text_width(title, CAPTION_SIZE, True)]
    widths += [text_width(line, LINE_SIZE) for line in lines]
    return max(widths), CAPTION_HEIGHT + len(lines) * LINE_HEIGHT


# --- texts ----------------------------------------------------------------------------------------

# Widths of the characters from space to tilde, in thousandths of the font size.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556,) * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611),
    *(278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833),
    *(556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
)
_OTHER, _WIDE = 640, 1000
_RAISED = {"\u00b2": 333, "\u00b3": 333}  # squared and cubed, in figures
_ASCII = (*(_OTHER,) * ord(" "), *_WIDTHS, _OTHER)  # by the code of the character
BOLD = 1.08  # Helvetica Bold relative to Helvetica, for typical names in models
SLACK = 1.03


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text in points.

    Parameters
    ----------
    text : str
    size : float
        Font size in points.
    bold : bool

    Examples
    --------
    >>> text_width("dense_1", 10.0)
    39.5
    >>> text_width("全连接", 10.0) > text_width("abc", 10.0)
    True
    """
    if text.isascii():
        thousandths = sum(map(_ASCII.__getitem__, text.encode()))
    else:
        thousandths = sum(_ASCII[ord(c)] if c.isascii() else _other_width(c) for c in text)
    return round(thousandths * size * (BOLD if bold else 1.0) * SLACK / 1000, 1)


def _other_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    if character in _RAISED:
        return _RAISED[character]
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER

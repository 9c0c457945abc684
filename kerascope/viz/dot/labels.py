"""The texts of boxes, frames and captions, in the table language of Graphviz."""

from __future__ import annotations

import html

from kerascope.viz.boxes import (
    BoxText,
    PictureOptions,
    box_text,
    caption_lines,
    group_text,
    one_line,
)
from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.theme import state_of, style_of

Size = tuple[float, float]

_CAPTION_SIZE, _NAME_SIZE, _GROUP_SIZE, _TEXT_SIZE, _SMALL_SIZE = 15, 13, 12, 10, 9


def box_label(node: GraphNode, options: PictureOptions, size: Size | None = None) -> str:
    """Return the text of a box as an HTML-like label, of this size in points if one is given."""
    text = box_text(node, options)
    middle = f'<TD CELLPADDING="5">{_nested(_text_rows(node, text, options))}</TD>'
    inputs = _ports(node, "i", text.inputs, options)
    outputs = _ports(node, "o", text.outputs, options)
    if options.rankdir == "LR":
        return _label([f"<TR>{inputs}{middle}{outputs}</TR>"], size)
    return _label([f"<TR>{cells}</TR>" for cells in (inputs, middle, outputs) if cells], size)


def group_label(group: GraphGroup, options: PictureOptions, size: Size | None = None) -> str:
    """Return the text of a frame: whose call it is, and which."""
    name, detail = group_text(group)
    palette = options.palette
    rows = [_row(f"<B>{escaped(name)}</B>", _GROUP_SIZE, palette.text, "LEFT")]
    if detail:
        rows.append(_row(escaped(detail), _TEXT_SIZE, palette.quiet_text, "LEFT"))
    return _label(rows, size)


def caption_label(graph: Graph, options: PictureOptions, size: Size | None = None) -> str:
    """Return the picture's title: the model's name and what is in it."""
    title, *captions = caption_lines(graph)
    palette, align = options.palette, "CENTER" if size is None else "LEFT"
    rows = [_row(f"<B>{escaped(title)}</B>", _CAPTION_SIZE, palette.text, align)]
    rows += [_row(escaped(part), _TEXT_SIZE, palette.quiet_text, align) for part in captions]
    if size is None:
        rows.append('<TR><TD HEIGHT="10"></TD></TR>')
    return _label(rows, size)


def arrow_label(text: str, options: PictureOptions) -> str:
    """Return the text at an arrow on a ground of its own, under which the lines end."""
    ground = f'BORDER="0" CELLSPACING="0" CELLPADDING="0" BGCOLOR="{options.palette.background}"'
    return f"<<TABLE {ground}><TR><TD>{escaped(text.strip())}</TD></TR></TABLE>>"


def escaped(text: str) -> str:
    """Return text so that Graphviz's tables show it as it is; they take no empty one.

    Examples
    --------
    >>> escaped('a<b & "c"'), escaped("")
    ('a&lt;b &amp; &quot;c&quot;', '&#160;')
    """
    return html.escape(one_line(text), quote=True) or "&#160;"


# --- rows of a box --------------------------------------------------------------------------------


def _text_rows(node: GraphNode, text: BoxText, options: PictureOptions) -> list[str]:
    palette, state = options.palette, state_of(node.attrs.get("state", ""))
    color = palette.sign(style_of(node.kind).hue)
    sign = f'<FONT COLOR="{color}">{escaped(text.sign)}</FONT>'
    loud = palette.quiet_text if state is not None and state.quiet else palette.text
    rows = [_row(f"{sign} <B>{escaped(text.title)}</B>", _NAME_SIZE, loud)]
    rows += [_row(escaped(line), _TEXT_SIZE, palette.quiet_text) for line in text.lines]
    rows += [_row(f"<B>{escaped(mark)}</B>", _TEXT_SIZE, loud) for mark in text.marks]
    return rows


def _ports(node: GraphNode, letter: str, texts: tuple[str, ...], options: PictureOptions) -> str:
    """Return the cells of one side within one cell; from left to right they form a column."""
    if not texts:
        return ""
    border = {"iTB": "B", "oTB": "T", "iLR": "R", "oLR": "L"}[letter + options.rankdir]
    color = options.palette.line(style_of(node.kind).hue)
    cells = [
        f'<TD PORT="{letter}{i}" BORDER="1" SIDES="{border}" COLOR="{color}" CELLPADDING="3">'
        f"{_font(escaped(text), _SMALL_SIZE, options.palette.quiet_text)}</TD>"
        for i, text in enumerate(texts)
    ]
    rows = (
        [f"<TR>{cell}</TR>" for cell in cells]
        if options.rankdir == "LR"
        else [f"<TR>{''.join(cells)}</TR>"]
    )
    return f"<TD>{_nested(rows)}</TD>"


# --- the language ---------------------------------------------------------------------------------


def _row(content: str, size: int, color: str, align: str = "CENTER") -> str:
    return f'<TR><TD ALIGN="{align}">{_font(content, size, color)}</TD></TR>'


def _font(content: str, size: int, color: str) -> str:
    return f'<FONT POINT-SIZE="{size}" COLOR="{color}">{content}</FONT>'


def _nested(rows: list[str]) -> str:
    return (
        f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{"".join(rows)}</TABLE>'
    )


def _label(rows: list[str], size: Size | None = None) -> str:
    if size is None:
        return f"<{_nested(rows)}>"
    # Our own layout has no room between the lines. Only a cell makes what is in it wider.
    table = _nested(rows).replace('CELLPADDING="1"', 'CELLPADDING="0"')
    cell = f'<TD CELLPADDING="0" WIDTH="{size[0]:.0f}" HEIGHT="{size[1]:.0f}">{table}</TD>'
    return f"<{_nested([f'<TR>{cell}</TR>'])}>"

"""The texts of boxes, frames and captions, in the table language of Graphviz.

A box reads, from top to bottom: a cell per input (if there are several), the sign and the name, the
class with its activation and parameters, the shape of the output, which call of a shared layer this
is, and a cell per output (if there are several).
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from kerascope.viz import theme
from kerascope.viz.graph import Graph, GraphGroup, GraphNode

# More cells than this would make the box wider than anyone reads.
MOST_PORTS = 12
LONGEST_NAME = 40

_NAME_SIZE, _TEXT_SIZE, _SMALL_SIZE = 13, 10, 9


@dataclass(frozen=True)
class DotOptions:
    """What the picture shows.

    Parameters
    ----------
    show_shapes, show_layer_names : bool
        Whether boxes carry shapes and names.
    depth_ranks : bool
        Write the depth of each row at its side.
    rankdir : {"TB", "LR"}
        From top to bottom, or from left to right.
    """

    show_shapes: bool = True
    show_layer_names: bool = True
    depth_ranks: bool = False
    rankdir: str = "TB"


def has_ports(node: GraphNode, side: str) -> bool:
    """Tell whether a box has cells for its inputs, or outputs (`side`: "inputs" or "outputs")."""
    return 2 <= _port_count(node, side) <= MOST_PORTS


def box_label(node: GraphNode, options: DotOptions) -> str:
    """Return the text of a box as an HTML-like label."""
    middle = f'<TD CELLPADDING="5">{_nested(_text_rows(node, options))}</TD>'
    inputs, outputs = (_ports(node, side, options.rankdir) for side in ("inputs", "outputs"))
    if options.rankdir == "LR":
        return _label([f"<TR>{inputs}{middle}{outputs}</TR>"])
    return _label([f"<TR>{cells}</TR>" for cells in (inputs, middle, outputs) if cells])


def group_label(group: GraphGroup) -> str:
    """Return the text of a frame: whose call it is, and which."""
    name = f"<B>{escaped(shortened(group.label))}</B>"
    detail = escaped(_call_text(group) or str(group.attrs.get("class_name", "")))
    rows = [_row(name, 12, theme.TEXT, "LEFT"), _row(detail, _TEXT_SIZE, theme.QUIET_TEXT, "LEFT")]
    return _label(rows)


def caption_label(graph: Graph) -> str:
    """Return the picture's title: the model's name and what is in it."""
    name = _row(f"<B>{escaped(shortened(graph.name))}</B>", 15, theme.TEXT)
    captions = [part for part in str(graph.attrs.get("caption", "")).split(". ") if part]
    quiet = [_row(escaped(part), _TEXT_SIZE, theme.QUIET_TEXT) for part in captions]
    return _label([name, *quiet, '<TR><TD HEIGHT="10"></TD></TR>'])


def escaped(text: str) -> str:
    """Return text so that Graphviz's tables show it as it is.

    Examples
    --------
    >>> escaped('a<b & "c"')
    'a&lt;b &amp; &quot;c&quot;'
    """
    return html.escape(text.replace("\n", " "), quote=True)


def shortened(name: str) -> str:
    """Return a name with its middle left out if it is long.

    Examples
    --------
    >>> shortened("a" * 30 + "b" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaaa…bbbbbbbbbbbbbbb'
    """
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 16]}…{name[-15:]}"


# --- rows of a box --------------------------------------------------------------------------------


def _text_rows(node: GraphNode, options: DotOptions) -> list[str]:
    style = theme.style_of(node.kind)
    class_name = str(node.attrs.get("class_name", node.kind))
    title = shortened(node.label) if options.show_layer_names else class_name
    sign = f'<FONT COLOR="{style.sign_color}">{escaped(style.sign)}</FONT>'
    rows = [_row(f"{sign} <B>{escaped(title)}</B>", _NAME_SIZE, theme.TEXT)]
    details = [
        class_name if options.show_layer_names else "",
        str(node.attrs.get("activation", "")),
    ]
    details.append(_parameters_text(node))
    texts = [" · ".join(filter(None, details))]
    if options.show_shapes and not has_ports(node, "outputs"):
        texts.append(str(node.attrs.get("output_shapes", "")))
    call = _call_text(node)
    texts.append(f"same layer, {call}" if call and "call" in node.attrs else call)
    texts.append(_output_text(node))
    rows += [_row(escaped(text), _TEXT_SIZE, theme.QUIET_TEXT) for text in texts if text]
    return rows


def _parameters_text(node: GraphNode) -> str:
    if node.attrs.get("shared_with"):
        return "same weights"
    parameters = int(node.attrs.get("parameters", 0))
    return f"{parameters:,} params" if parameters else ""


def _call_text(item: GraphNode | GraphGroup) -> str:
    calls = int(item.attrs.get("calls", 1))
    if calls == 1:
        return ""
    if "call" not in item.attrs:
        return f"called {calls} times"
    return f"call {int(item.attrs['call']) + 1} of {calls}"


def _output_text(node: GraphNode) -> str:
    outputs = str(node.attrs.get("outputs", ""))
    return f"► {outputs}" if outputs else ""


# --- cells for inputs and outputs -----------------------------------------------------------------


def _port_count(node: GraphNode, side: str) -> int:
    return int(node.attrs.get("input_count" if side == "inputs" else "output_count", 0))


def _ports(node: GraphNode, side: str, rankdir: str) -> str:
    """Return the cells of one side within one cell; from left to right they form a column."""
    if not has_ports(node, side):
        return ""
    letter = side[0]
    shapes = str(node.attrs.get("output_shapes", "")).split("; ")
    texts = [
        str(i) if letter == "i" else f"{i}: {shapes[i]}" for i in range(_port_count(node, side))
    ]
    border = {"iTB": "B", "oTB": "T", "iLR": "R", "oLR": "L"}[letter + rankdir]
    color = theme.style_of(node.kind).line
    cells = [
        f'<TD PORT="{letter}{i}" BORDER="1" SIDES="{border}" COLOR="{color}" CELLPADDING="3">'
        f"{_font(escaped(text), _SMALL_SIZE, theme.QUIET_TEXT)}</TD>"
        for i, text in enumerate(texts)
    ]
    rows = (
        [f"<TR>{cell}</TR>" for cell in cells]
        if rankdir == "LR"
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


def _label(rows: list[str]) -> str:
    return f"<{_nested(rows)}>"

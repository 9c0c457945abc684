"""Write a `Graph` as DOT, the language of Graphviz.

Boxes of the same depth form a row (`rank=same`). A box has cells for several inputs along its upper
side and for several outputs along its lower side, so parallel arrows stay separate and show which
operand they are. The text is the same at every run. `graphviz.py` renders it with dot, which
computes the positions.

The module contains the graph, the texts of its boxes, and the attributes of boxes, frames and
arrows.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import re
from collections.abc import Container, Iterable, Iterator, Mapping

from kerascope.engine.node_ids import free_id
from kerascope.viz import boxes, theme
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import by_frame, items_of
from kerascope.viz.theme import state_of, style_of

# Above this many boxes, dot's search for short edges is limited, since it would take minutes.
MANY_BOXES = 150


def to_dot(graph: Graph, options: boxes.PictureOptions | None = None) -> str:
    """Return a graph as DOT text.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions, optional

    Returns
    -------
    str

    Examples
    --------
    >>> boxes = (GraphNode("a", "a", "input", depth=1), GraphNode("b", "b", "dense"))
    >>> graph = Graph("pair", boxes, (GraphEdge("a", "b"),))
    >>> [line.strip() for line in to_dot(graph).splitlines() if "->" in line]
    ['"a" -> "b" [id="edge-0"]']
    """
    return _DotWriter(graph, options or boxes.PictureOptions()).text()


def defaults(graph: Graph, options: boxes.PictureOptions) -> Iterator[str]:
    """Yield the default attributes of the picture, of boxes and of arrows."""
    palette = options.palette
    picture: dict[str, str] = {
        "rankdir": options.rankdir,
        "newrank": "true",
        "bgcolor": "transparent" if options.is_transparent else palette.background,
        "pad": "0.2",
        "nodesep": "0.35",
        "ranksep": "0.42" if options.rankdir == "TB" else "0.6",
        "fontname": options.font,
        "fontcolor": palette.text,
        "labelloc": "t",
        "label": caption_label(graph, options),
        "tooltip": graph.name,
    }
    if len(graph.nodes) > MANY_BOXES:
        picture |= {"nslimit": "1", "nslimit1": "1"}
    box = {"fontname": options.font, "fontcolor": palette.text, "margin": "0", "penwidth": "1.1"}
    arrow = {
        "fontname": options.font,
        "fontsize": "10",
        "fontcolor": palette.quiet_text,
        "color": palette.edge,
        "arrowsize": "0.6",
    }
    yield f"  graph {attribute_list(picture)}"
    yield f"  node {attribute_list(box)}"
    yield f"  edge {attribute_list(arrow)}"


class _DotWriter:
    """Writes one graph as DOT; its boxes are sorted by frame and row."""

    def __init__(self, graph: Graph, options: boxes.PictureOptions) -> None:
        depths = [part.depth for part in items_of(graph)] if options.depth_ranks else []
        self.graph, self.options = graph, options
        self.frames = dot_names(group.id for group in graph.groups)
        self.names = dot_names((node.id for node in graph.nodes), set(map(axis_name, depths)))
        self.inner = by_frame(graph.groups)
        self.boxes = {node.id: node for node in graph.nodes}
        self.rows: dict[str, dict[int, list[GraphNode]]] = {}
        for node in graph.nodes:
            self.rows.setdefault(node.group, {}).setdefault(node.depth, []).append(node)

    def text(self) -> str:
        """Return the whole DOT text."""
        lines = [*defaults(self.graph, self.options), *self.parts()]
        return "\n".join([f"digraph {quoted(self.graph.name)} {{", *lines, "}", ""])

    def parts(self) -> Iterator[str]:
        if self.options.depth_ranks:
            yield from self.depth_axis()
        yield from self.contents("", "  ")
        if self.options.depth_ranks:
            for depth, row in self.rows_with_groups().items():
                yield from _same_rank([axis_name(depth), *row], "  ")
        yield from self.pairs()
        for number, edge in enumerate(self.graph.edges):
            yield self.arrow(edge, number)

    # --- boxes ---

    def contents(self, group: str, indent: str) -> Iterator[str]:
        """Yield the direct contents of a frame: its boxes row by row, then the frames in it."""
        for _, row in sorted(self.rows.get(group, {}).items(), reverse=True):
            for node in row:
                name = self.names[node.id]
                attributes = box_attributes(node, name, self.options)
                yield f"{indent}{quoted(name)} {attribute_list(attributes)}"
            yield from _same_rank(self.names_of(row), indent)
        for inner in self.inner.get(group, []):
            frame = frame_attributes(inner, self.frames[inner.id], self.options)
            yield f"{indent}subgraph {quoted('cluster ' + self.frames[inner.id])} {{"
            yield f"{indent}  graph {attribute_list(frame)}"
            yield from self.contents(inner.id, indent + "  ")
            yield f"{indent}}}"

    def names_of(self, row: Iterable[GraphNode]) -> list[str]:
        """Return the DOT names of a row's boxes, except those placed next to another box."""
        return [self.names[node.id] for node in row if not self.neighbour(node)]

    def neighbour(self, node: GraphNode) -> str:
        """Return the id of the box immediately to the left of this box; "" if there is none."""
        beside = str(node.attrs.get("beside", ""))
        return beside if beside in self.boxes and beside != node.id else ""

    def pairs(self) -> Iterator[str]:
        """Yield lines of DOT: invisible arrows that keep boxes to the right of their neighbours."""
        for node in self.graph.nodes:
            beside = self.neighbour(node)
            if beside:
                left, right = quoted(self.names[beside]), quoted(self.names[node.id])
                yield f"  {{ rank=same; {left} -> {right} [style=invis weight=8] }}"

    # --- depths at the side ---

    def depth_axis(self) -> Iterator[str]:
        """Yield a column with the depth of each row. It is written first, so dot places it left."""
        quiet = self.options.palette.quiet_text
        depths = list(self.rows_with_groups())
        for depth in depths:
            own = {"shape": "plaintext", "fontsize": "10", "fontcolor": quiet}
            own |= {"label": f"depth {depth}", "id": f"depth-{depth}", "group": "depths"}
            yield f"  {quoted(axis_name(depth))} {attribute_list(own)}"
        for upper, lower in itertools.pairwise(depths):
            names = f"{quoted(axis_name(upper))} -> {quoted(axis_name(lower))}"
            yield f"  {names} {attribute_list({'style': 'invis', 'weight': '100'})}"

    def rows_with_groups(self) -> dict[int, list[str]]:
        """Return the DOT names of the boxes in each row outside of frames, by depth.

        A frame is represented by the boxes of its first row.
        """
        rows = {depth: self.names_of(row) for depth, row in self.rows.get("", {}).items()}
        for group in self.inner.get("", []):
            rows.setdefault(group.depth, []).extend(self.first_boxes(group.id))
        return dict(sorted(rows.items(), reverse=True))

    def first_boxes(self, group: str) -> list[str]:
        """Return the boxes in the first row of a frame.

        If that row contains only frames, return the boxes in the first rows of these frames.
        """
        rows, inner = self.rows.get(group, {}), self.inner.get(group, [])
        depth = max([*rows, *(one.depth for one in inner)], default=0)
        first = self.names_of(rows.get(depth, []))
        return first or [
            box for one in inner if one.depth == depth for box in self.first_boxes(one.id)
        ]

    # --- arrows ---

    def arrow(self, edge: GraphEdge, number: int) -> str:
        source, target = self.boxes[edge.source], self.boxes[edge.target]
        attributes = arrow_attributes(edge, number, self.options)
        tail, head = quoted(self.names[source.id]), quoted(self.names[target.id])
        back = source.group == target.group and source.depth <= target.depth
        if back or edge.attrs.get("role") in ROLES:
            # An arrow back to a shared layer, or a backward one, must not move the rows.
            attributes["constraint"] = "false"
            return f"  {tail} -> {head} {attribute_list(attributes)}"
        leaves, enters = ("s", "n") if self.options.rankdir == "TB" else ("e", "w")
        if "output" in edge.attrs and boxes.has_ports(source, "outputs"):
            tail += f":o{edge.attrs['output']}:{leaves}"
        if "operand" in edge.attrs and boxes.has_ports(target, "inputs"):
            head += f":i{edge.attrs['operand']}:{enters}"
        return f"  {tail} -> {head} {attribute_list(attributes)}"


def _same_rank(names: list[str], indent: str) -> Iterator[str]:
    if len(names) > 1:
        yield f"{indent}{{ rank=same; {'; '.join(map(quoted, names))} }}"


def axis_name(depth: int) -> str:
    """Return the DOT name of the text with the depth of a row."""
    return f"depth axis {depth}"


# --- texts, in the table language of Graphviz -----------------------------------------------------

_CAPTION_SIZE, _NAME_SIZE, _GROUP_SIZE, _TEXT_SIZE, _SMALL_SIZE = 15, 13, 12, 10, 9


def box_label(node: GraphNode, options: boxes.PictureOptions) -> str:
    """Return the text of a box as an HTML-like label."""
    text = boxes.box_text(node, options)
    middle = f'<TD CELLPADDING="5">{_nested(_text_rows(node, text, options))}</TD>'
    inputs = _ports(node, "i", text.inputs, options)
    outputs = _ports(node, "o", text.outputs, options)
    if options.rankdir == "LR":
        return _label([f"<TR>{inputs}{middle}{outputs}</TR>"])
    return _label([f"<TR>{cells}</TR>" for cells in (inputs, middle, outputs) if cells])


def group_label(group: GraphGroup, options: boxes.PictureOptions) -> str:
    """Return the text of a frame as an HTML-like label: the layer's name, class and call."""
    name, detail = boxes.group_text(group)
    palette = options.palette
    rows = [_row(f"<B>{escaped(name)}</B>", _GROUP_SIZE, palette.text, "LEFT")]
    if detail:
        rows.append(_row(escaped(detail), _TEXT_SIZE, palette.quiet_text, "LEFT"))
    return _label(rows)


def caption_label(graph: Graph, options: boxes.PictureOptions) -> str:
    """Return the title of the picture and its caption as an HTML-like label."""
    title, *captions = boxes.caption_lines(graph)
    palette = options.palette
    rows = [_row(f"<B>{escaped(title)}</B>", _CAPTION_SIZE, palette.text)]
    rows += [_row(escaped(part), _TEXT_SIZE, palette.quiet_text) for part in captions]
    return _label([*rows, '<TR><TD HEIGHT="10"></TD></TR>'])


def escaped(text: str) -> str:
    """Return text escaped for Graphviz's tables, which do not accept empty text.

    Examples
    --------
    >>> escaped('a<b & "c"'), escaped("")
    ('a&lt;b &amp; &quot;c&quot;', '&#160;')
    """
    return html.escape(boxes.one_line(text), quote=True) or "&#160;"


# --- rows of a box --------------------------------------------------------------------------------


def _text_rows(node: GraphNode, text: boxes.BoxText, options: boxes.PictureOptions) -> list[str]:
    palette, state = options.palette, state_of(node.attrs.get("state", ""))
    color = palette.sign(palette.hue_of(node.kind))
    sign = f'<FONT COLOR="{color}">{escaped(text.sign)}</FONT>'
    loud = palette.quiet_text if state is not None and state.quiet else palette.text
    rows = [_row(f"{sign} <B>{escaped(text.title)}</B>", _NAME_SIZE, loud)]
    rows += [_row(escaped(line), _TEXT_SIZE, palette.quiet_text) for line in text.lines]
    rows += [_row(f"<B>{escaped(mark)}</B>", _TEXT_SIZE, loud) for mark in text.marks]
    return rows


def _ports(
    node: GraphNode, letter: str, texts: tuple[str, ...], options: boxes.PictureOptions
) -> str:
    """Return a table cell with a row (or for "LR" a column) of cells for inputs or outputs."""
    if not texts:
        return ""
    border = {"iTB": "B", "oTB": "T", "iLR": "R", "oLR": "L"}[letter + options.rankdir]
    between = "T" if options.rankdir == "LR" else "L"  # the border to the previous cell
    color = options.palette.line(options.palette.hue_of(node.kind))
    cells = [
        f'<TD PORT="{letter}{i}" BORDER="1" SIDES="{border}{between[:i]}" '
        f'COLOR="{color}" CELLPADDING="3">'
        f"{_font(escaped(text), _SMALL_SIZE, options.palette.quiet_text)}</TD>"
        for i, text in enumerate(texts)
    ]
    rows = (
        [f"<TR>{cell}</TR>" for cell in cells]
        if options.rankdir == "LR"
        else [f"<TR>{''.join(cells)}</TR>"]
    )
    return f"<TD>{_nested(rows)}</TD>"


# --- the table language ---------------------------------------------------------------------------


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


# --- attributes of boxes, frames and arrows, and their names --------------------------------------

HEAVY, PLAIN = "2.2", "1.1"
# Arrows that are not tensors of the forward pass, by role: the kind of box whose hue the arrow has,
# and the style of its line.
ROLES = {"gradient": ("gradient", "dashed"), "update": ("update", "dotted")}
# Outlines of frames by kind; a call is dashed.
_FRAME_LINES = {
    "card": "solid",
    "call": "dashed",
    "scope": "dotted",
    "loop": "bold",
    "copies": "bold",
}
_FRAME_WORDS = {
    "call": "one call of",
    "layer": "inside of",
    "block": "block",
    "copies": "one of several copies of",
    "scope": "name scope",
    "loop": "steps of",
}


def dot_names(ids: Iterable[str], reserved: Container[str] = ()) -> dict[str, str]:
    """Return the DOT name of each box (or frame) by id: the id itself where Graphviz allows it.

    Graphviz rejects empty names, loses names that begin with "%", and cannot write control
    characters to SVG. Control characters are escaped, and ids that would become equal get a number.

    Examples
    --------
    >>> list(dot_names(["dense_1", "", "a" + chr(10), "a "]).values())
    ['dense_1', '(no name)', 'a ', 'a ~2']
    """
    names: dict[str, str] = {}
    taken: dict[str, None] = {}
    for one in ids:
        name = boxes.one_line(one)
        name = f"_{name}" if name.startswith("%") else name or "(no name)"
        while name in taken or name in reserved:
            name = free_id(name, taken) if name in taken else f"{name}~2"
        taken[name] = None
        names[one] = name
    return names


# --- boxes and frames -----------------------------------------------------------------------------


def box_attributes(node: GraphNode, name: str, options: boxes.PictureOptions) -> dict[str, str]:
    """Return the DOT attributes of the box with the DOT name `name`."""
    style, state = style_of(node.kind), state_of(node.attrs.get("state", ""))
    palette = options.palette
    quiet = state is not None and state.quiet
    hue = palette.hue_of(node.kind)
    attributes = {
        "id": f"node-{name}",
        "label": box_label(node, options),
        "shape": "note" if style.corners == "note" else "box",
        "style": _outline(style, state),
        "fillcolor": palette.background if quiet else palette.fill(hue),
        "color": palette.line(hue if state is None else state.hue),
        "tooltip": _tooltip(node, options),
    }
    if state is not None and state.heavy:
        attributes["penwidth"] = HEAVY
    if node.attrs.get("state") in theme.HEATS:
        heat = palette.heat(str(node.attrs["state"]))
        attributes |= {"fillcolor": heat, "color": palette.quiet_text}
    if node.attrs.get("heat") in theme.HEATS:
        attributes["fillcolor"] = palette.heat(str(node.attrs["heat"]))
    frames = 3 if int(node.attrs.get("copies", 1)) > 1 else style.frames
    if frames > 1:
        attributes["peripheries"] = str(frames)
    return attributes


def frame_attributes(group: GraphGroup, name: str, options: boxes.PictureOptions) -> dict[str, str]:
    """Return the DOT attributes of the frame with the DOT name `name`."""
    state = state_of(group.attrs.get("state", ""))
    palette, kind = options.palette, str(group.attrs.get("kind", "call"))
    attributes = {
        "label": group_label(group, options),
        "labeljust": "l",
        "style": f"rounded,filled,{_FRAME_LINES.get(kind, 'solid')}",
        "fillcolor": palette.group_fill,
        "color": palette.group_line if state is None else palette.line(state.hue),
        "margin": "12",
        "id": f"group-{name}",
        "tooltip": f"{group.id}: {_FRAME_WORDS.get(kind, kind)} {group.label}",
    }
    if state is not None and state.heavy:
        attributes["penwidth"] = HEAVY
    return attributes


def _outline(style: theme.Style, state: theme.State | None) -> str:
    dashed = style.dashed if state is None else state.dashed
    words = ["filled", "rounded" if style.corners in ("round", "oval") else ""]
    words += ["bold" if style.heavy and state is None else "", "dashed" if dashed else ""]
    return ",".join(filter(None, words))


def _tooltip(node: GraphNode, options: boxes.PictureOptions) -> str:
    if not options.show_shapes:
        attrs = {k: v for k, v in node.attrs.items() if k not in ("input_shapes", "output_shapes")}
        node = dataclasses.replace(node, attrs=attrs)
    return boxes.tooltip(node, options)


# --- arrows ---------------------------------------------------------------------------------------


def arrow_attributes(edge: GraphEdge, number: int, options: boxes.PictureOptions) -> dict[str, str]:
    """Return the DOT attributes of an arrow."""
    palette = options.palette
    attributes = {"id": f"edge-{number}"}
    label, role = boxes.one_line(edge.label), str(edge.attrs.get("role", ""))
    if role in ROLES:
        kind, line = ROLES[role]
        attributes |= {"style": line, "color": palette.line(style_of(kind).hue)}
        attributes["penwidth"] = "1.6"
    if role == "bundle":
        attributes["penwidth"] = "3.6"
    state = state_of(edge.attrs.get("state", ""))
    if state is not None:
        attributes["color"] = palette.edge if state.quiet else palette.line(state.hue)
        attributes["penwidth"] = HEAVY if state.heavy else PLAIN
        attributes |= {"style": "dashed"} if state.dashed else {}
        label = " ".join(
            filter(None, [label, state.glyph, boxes.one_line(str(edge.attrs.get("note", "")))])
        )
    if label:
        attributes["label"] = f" {label} "
    return attributes


# --- text -----------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    r"""Return text as a DOT string.

    Examples
    --------
    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    escaped = boxes.one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def attribute_list(attributes: Mapping[str, str]) -> str:
    """Return attributes in brackets. Values are quoted, except HTML-like labels with a table."""
    texts = [
        f"{key}={value if key == 'label' and value.startswith('<<') else _value(value)}"
        for key, value in attributes.items()
    ]
    return f"[{' '.join(texts)}]"


def _value(text: str) -> str:
    """Return a quoted value in which Graphviz does not interpret entities such as `&lt;`."""
    return quoted(re.sub(r"&(?=#?\w+;)", "&amp;", text))

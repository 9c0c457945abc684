"""How boxes, frames and arrows look in DOT, and how its names and texts are written."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Iterable, Mapping

from kerascope.engine.node_ids import free_id
from kerascope.viz import theme
from kerascope.viz.boxes import PictureOptions, one_line
from kerascope.viz.dot.labels import box_label, group_label
from kerascope.viz.graph import GraphEdge, GraphGroup, GraphNode
from kerascope.viz.words import tooltip

HEAVY, PLAIN = "2.2", "1.1"
# What flows along an arrow that is no tensor on its way forward: kind of box whose hue it has,
# and its line.
ROLES = {"gradient": ("gradient", "dashed"), "update": ("update", "dotted")}
# A frame is dashed around a call; what stands for something else has another outline.
_FRAME_LINES = {"call": "dashed", "scope": "dotted", "loop": "bold", "copies": "bold"}
_FRAME_WORDS = {
    "call": "one call of",
    "layer": "inside of",
    "block": "block",
    "copies": "one of several copies of",
    "scope": "name scope",
    "loop": "steps of",
}


def dot_names(ids: Iterable[str], reserved: Container[str] = ()) -> dict[str, str]:
    """Return what boxes (or frames) are called in DOT: their ids, as far as Graphviz can hold them.

    Graphviz takes no empty name, loses names that begin with "%", and its SVG cannot hold control
    characters; what cannot be seen is an escape. Ids that would become equal get a number.

    Examples
    --------
    >>> list(dot_names(["dense_1", "", "a" + chr(10), "a "]).values())
    ['dense_1', '(no name)', 'a ', 'a ~2']
    """
    names: dict[str, str] = {}
    taken: dict[str, None] = {}
    for one in ids:
        name = one_line(one)
        name = f"_{name}" if name.startswith("%") else name or "(no name)"
        while name in taken or name in reserved:
            name = free_id(name, taken) if name in taken else f"{name}~2"
        taken[name] = None
        names[one] = name
    return names


# --- boxes and frames -----------------------------------------------------------------------------


def box_attributes(node: GraphNode, name: str, options: PictureOptions) -> dict[str, str]:
    """Return the attributes of a box that is called `name` in DOT."""
    style, state = theme.style_of(node.kind), theme.state_of(node.attrs.get("state", ""))
    palette = options.palette
    quiet = state is not None and state.quiet
    attributes = {
        "id": f"node-{name}",
        "label": box_label(node, options),
        "shape": "note" if style.corners == "note" else "box",
        "style": _outline(style, state),
        "fillcolor": palette.background if quiet else palette.fill(style.hue),
        "color": palette.line(style.hue if state is None else state.hue),
        "tooltip": _tooltip(node, options),
    }
    if state is not None and state.heavy:
        attributes["penwidth"] = HEAVY
    if node.attrs.get("state") in theme.HEATS:
        heat = palette.heat(str(node.attrs["state"]))
        attributes |= {"fillcolor": heat, "color": palette.quiet_text}
    frames = 3 if int(node.attrs.get("copies", 1)) > 1 else style.frames
    if frames > 1:
        attributes["peripheries"] = str(frames)
    return attributes


def frame_attributes(group: GraphGroup, name: str, options: PictureOptions) -> dict[str, str]:
    """Return the attributes of a frame that is called `name` in DOT."""
    state = theme.state_of(group.attrs.get("state", ""))
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


def _tooltip(node: GraphNode, options: PictureOptions) -> str:
    if not options.show_shapes:
        attrs = {k: v for k, v in node.attrs.items() if k not in ("input_shapes", "output_shapes")}
        node = dataclasses.replace(node, attrs=attrs)
    return tooltip(node)


# --- arrows ---------------------------------------------------------------------------------------


def arrow_attributes(edge: GraphEdge, number: int, options: PictureOptions) -> dict[str, str]:
    """Return the attributes of an arrow."""
    palette = options.palette
    attributes = {"id": f"edge-{number}"}
    label, role = one_line(edge.label), str(edge.attrs.get("role", ""))
    if role in ROLES:
        kind, line = ROLES[role]
        attributes |= {"style": line, "color": palette.line(theme.style_of(kind).hue)}
        attributes["penwidth"] = "1.6"
    state = theme.state_of(edge.attrs.get("state", ""))
    if state is not None:
        attributes["color"] = palette.edge if state.quiet else palette.line(state.hue)
        attributes["penwidth"] = HEAVY if state.heavy else PLAIN
        attributes |= {"style": "dashed"} if state.dashed else {}
        label = " ".join(
            filter(None, [label, state.glyph, one_line(str(edge.attrs.get("note", "")))])
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
    escaped = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def attribute_list(attributes: Mapping[str, str]) -> str:
    """Return attributes in their brackets; a label in the table language stays as it is."""
    texts = [
        f"{key}={value if key == 'label' and value.startswith('<<') else _value(value)}"
        for key, value in attributes.items()
    ]
    return f"[{' '.join(texts)}]"


def _value(text: str) -> str:
    """Return an attribute's text; Graphviz would read `&lt;` in it as a character."""
    return quoted(re.sub(r"&(?=#?\w+;)", "&amp;", text))

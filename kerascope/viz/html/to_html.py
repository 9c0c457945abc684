"""From a graph to a page in one file: frames open and close, search, details, keyboard.

The page holds its style, its script and its data, and asks no network for anything; a policy in it
forbids that too. Python measures the words and puts the rows in order; the script (in `viewer/`)
does what `layout/` does besides, for whatever frames are open.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from kerascope.engine.node_ids import clean
from kerascope.viz.boxes import PictureOptions, one_line
from kerascope.viz.collapse.closing import closed_by_default
from kerascope.viz.collapse.collapsed import check_groups
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.html.closed import ClosedFrames, closed_frames
from kerascope.viz.html.data import as_script, page_data
from kerascope.viz.svg.style import style_sheet
from kerascope.viz.theme import (
    PALETTES,
    STYLES,
    Palette,
)

# In this order they make one script; each uses what stands before it.
SCRIPTS = (
    "graph", "showing", "levels", "places", "strands", "routes", "labels", "arrange",
    "svg", "boxes", "picture", "view", "walking", "searching", "details", "viewer",
)  # fmt: skip


def to_html(
    graph: Graph,
    options: PictureOptions | None = None,
    *,
    closed: Collection[str] | None = None,
) -> str:
    """Return a graph as a page in one file.

    Parameters
    ----------
    graph : Graph
        With all its groups; `blocks.with_blocks` adds more.
    options : PictureOptions, optional
    closed : collection of str, optional
        Ids of the groups that are closed when the page opens; by default `closed_by_default`.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        `closed` names a group that does not exist.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge, GraphNode
    >>> boxes = GraphNode("a", "a", "input", depth=1), GraphNode("b", "b", "dense")
    >>> page = to_html(Graph("pair", boxes, (GraphEdge("a", "b"),)))
    >>> page.splitlines()[0], "<title>pair</title>" in page
    ('<!DOCTYPE html>', True)
    """
    options = options or PictureOptions()
    if closed is None:
        closed = closed_by_default(graph)
    check_groups(graph, closed, "to_html")
    frames = closed_frames(graph)
    style = "\n".join([_page_colours(), _picture_styles(graph, frames), _part("viewer.css")])
    script = _script()
    return Template(_part("page.html")).substitute(
        title=_escaped(graph.name or "graph"),
        label=_escaped(f"{graph.name or 'graph'}: {len(graph.nodes)} boxes"),
        theme="dark" if options.theme == "dark" else "light",
        policy=_policy(script),
        style=style,
        data=as_script(page_data(graph, options, frames, closed)),
        script=script,
    )


def _escaped(text: str) -> str:
    return escape(one_line(clean(text)), quote=True)


def _policy(script: str) -> str:
    """Return what the page may do: run its own script and use its own style, nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        f"base-uri 'none'; form-action 'none'"
    )


@cache
def _part(name: str) -> str:
    """Return one of the files of the page."""
    return (files("kerascope.viz.html") / "viewer" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    parts = "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


# --- style ----------------------------------------------------------------------------------------


def _page_colours() -> str:
    """Return the colours of what stands around the picture, light and dark."""
    return "\n".join(
        f':root[data-theme="{name}"]{{color-scheme:{name};{_variables(palette)}}}'
        for name, palette in PALETTES.items()
    )


def _variables(palette: Palette) -> str:
    colours = {
        "background": palette.background,
        "panel": palette.group_fill,
        "text": palette.text,
        "quiet": palette.quiet_text,
        "line": palette.group_line,
        "accent": palette.line("blue"),
        "accent-text": palette.sign("blue"),
        "found": palette.line("vermillion"),
    }
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _picture_styles(graph: Graph, frames: ClosedFrames) -> str:
    """Return the rules of an SVG, in both themes, for all kinds and states that may be seen."""
    boxes = (*graph.nodes, *frames.boxes.values())
    kinds = dict.fromkeys(box.kind for box in boxes if box.kind in STYLES)
    states = dict.fromkeys(str(box.attrs.get("state", "")) for box in boxes)
    looks = dict.fromkeys(
        (str(edge.attrs.get("role", "")), str(edge.attrs.get("state", ""))) for edge in graph.edges
    )
    kinds["layer"] = None  # what a kind that is not known is drawn as
    nodes = [GraphNode(f"kind {kind}", "", kind) for kind in kinds]
    nodes += [GraphNode(f"state {one}", "", "layer", attrs={"state": one}) for one in states]
    ends = nodes[0].id, nodes[-1].id
    edges = [GraphEdge(*ends, "", {"role": role, "state": state}) for role, state in looks]
    seen = Graph(graph.name, tuple(nodes), tuple(edges))
    return "\n".join(style_sheet(seen, theme) for theme in PALETTES)

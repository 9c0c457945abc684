"""The style sheet of an SVG: one class for each kind of box, light and dark.

Every rule begins with the classes of its picture. Pictures of one theme in one page have the same
rules; those for a state are more specific than those for a kind, whatever their order.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import DEPTH_SIZE
from kerascope.viz.layout.measures import (
    CAPTION_SIZE,
    CELL_SIZE,
    FRAME_SIZE,
    LINE_SIZE,
    TITLE_SIZE,
)
from kerascope.viz.theme import FONT, HEATS, PALETTES, STATES, Palette, state_of, style_of

_SIZES = f"""\
text{{font-family:{FONT};font-size:{LINE_SIZE}px;white-space:pre}}
.caption{{font-size:{CAPTION_SIZE}px;font-weight:bold}}
.title,.sign{{font-size:{TITLE_SIZE}px}}
.title,.mark{{font-weight:bold}}
.frame~.title{{font-size:{FRAME_SIZE}px}}
.cell{{font-size:{CELL_SIZE}px}}
.depth{{font-size:{DEPTH_SIZE}px}}
.line{{stroke-width:1.2}}
.line.inner{{fill:none;stroke-width:1}}
.cells{{fill:none;stroke-width:.8}}
.frame{{stroke-width:1.1;stroke-dasharray:5 3}}
.edge{{fill:none;stroke-width:1.2}}
.edge.gradient{{stroke-dasharray:6 3}}
.edge.update{{stroke-dasharray:2 3;stroke-width:1.6}}"""


def style_sheet(graph: Graph, theme: str) -> str:
    """Return the rules that a graph's picture needs, for a theme of `theme.THEMES`."""
    rules = [_scoped(line, theme) for line in _SIZES.split("\n")]
    rules += [_scoped(line, theme) for line in _shapes(graph)]
    first = PALETTES["light" if theme == "auto" else theme]
    rules += [_scoped(line, theme) for line in _colours(graph, first)]
    if theme == "auto":
        dark = [_scoped(line, theme) for line in _colours(graph, PALETTES["dark"])]
        rules.append(f"@media (prefers-color-scheme:dark){{{''.join(dark)}}}")
    return "\n".join(rules)


def _scoped(rule: str, theme: str) -> str:
    selectors, _, rest = rule.partition("{")
    scoped = ",".join(f".kerascope.{theme} {selector}" for selector in selectors.split(","))
    return f"{scoped}{{{rest}"


def _kinds(graph: Graph) -> list[str]:
    return list(dict.fromkeys(node.kind for node in graph.nodes))


def _states(graph: Graph, known: Container[str] = STATES) -> list[str]:
    parts: list[GraphNode | GraphEdge | GraphGroup] = [*graph.nodes, *graph.edges, *graph.groups]
    found = dict.fromkeys(str(part.attrs.get("state", "")) for part in parts)
    return [state for state in found if state in known]


def _shapes(graph: Graph) -> Iterator[str]:
    for kind in _kinds(graph):
        style = style_of(kind)
        if style.heavy:
            yield f".k-{kind} .line{{stroke-width:2}}"
        if style.dashed:
            yield f".k-{kind} .line{{stroke-dasharray:5 3}}"
    for name in _states(graph):
        state = STATES[name]
        width = 2.4 if state.heavy else 1.2
        dashes = "stroke-dasharray:5 3" if state.dashed else "stroke-dasharray:none"
        yield f".box.is-{name} .line,.frame.is-{name}{{stroke-width:{width};{dashes}}}"
        yield f".edge.is-{name}{{stroke-width:{max(width - 0.4, 1.2):g};{dashes}}}"


def _colours(graph: Graph, palette: Palette) -> Iterator[str]:
    yield f".ground{{fill:{palette.background}}}"
    yield f".title,.caption{{fill:{palette.text}}}"
    yield f".quiet,.cell,.depth{{fill:{palette.quiet_text}}}"
    yield f".mark{{fill:{palette.text}}}"
    yield f".frame{{fill:{palette.group_fill};stroke:{palette.group_line}}}"
    yield f".edge{{stroke:{palette.edge}}}"
    yield f".head{{fill:{palette.edge}}}"
    for kind in _kinds(graph):
        hue = style_of(kind).hue
        yield f".k-{kind} .line{{fill:{palette.fill(hue)};stroke:{palette.line(hue)}}}"
        yield f".k-{kind} .inner{{fill:none}}"
        yield f".k-{kind} .sign{{fill:{palette.sign(hue)}}}"
        yield f".k-{kind} .cells{{stroke:{palette.line(hue)}}}"
    for role, hue in (("gradient", "purple"), ("update", "green")):
        if any(edge.attrs.get("role") == role for edge in graph.edges):
            yield f".edge.{role}{{stroke:{palette.line(hue)}}}"
            yield f".head.{role}{{fill:{palette.line(hue)}}}"
    for name in _states(graph):
        state = state_of(name)
        assert state is not None
        yield f".box.is-{name} .line,.frame.is-{name}{{stroke:{palette.mark(state.hue)}}}"
        yield f".edge.is-{name}{{stroke:{palette.mark(state.hue)}}}"
        yield f".head.is-{name}{{fill:{palette.mark(state.hue)}}}"
    for name in _states(graph, HEATS):
        box = f".box.is-{name}"
        yield f"{box} .line{{fill:{palette.heat(name)};stroke:{palette.quiet_text}}}"
        yield f"{box} .inner{{fill:none}}"
        yield f"{box} .sign{{fill:{palette.text}}}"

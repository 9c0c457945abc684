"""Write a `Graph` as Mermaid, the diagram language of Markdown on GitHub and in many wikis.

Boxes are called `n0`, `n1`, ... because Mermaid allows few characters in names; a comment above
each box contains its id. Characters with a meaning in Mermaid are written as codes (`#34;`), which
it shows as characters. Mermaid refuses texts of more than 50,000 characters and graphs of more than
500 arrows, unless its `maxTextSize` and `maxEdges` are raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from kerascope.engine.node_ids import clean
from kerascope.viz import theme
from kerascope.viz.boxes import (
    PictureOptions,
    box_text,
    caption_lines,
    group_text,
    has_ports,
    one_line,
)
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.nesting import by_frame

MOST_ARROWS = 500
# Brackets of a box by its outline; a box that represents several has double sides.
_OUTLINES = {"round": '("|")', "square": '["|"]', "note": '>"|"]', "oval": '(["|"])'}
_SEVERAL = '[["|"]]'
_ARROWS = {"gradient": "-.->", "update": "==>", "bundle": "==>"}
_THEMES = {"light": "default", "dark": "dark", "print": "neutral"}
_SPECIAL = re.compile('["#&<>:;`%$\\\\*{}|~^]')


def to_mermaid(graph: Graph, options: PictureOptions | None = None) -> str:
    """Return a graph as the text of a Mermaid flowchart.

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
    >>> print("".join(to_mermaid(graph).splitlines(True)[:6]), end="")
    %% pair
    flowchart TB
      %% n0 is "a"
      n0("<b>▼ a</b>")
      %% n1 is "b"
      n1("<b>■ b</b>")
    """
    options = options or PictureOptions()
    return "\n".join([*_MermaidWriter(graph, options).lines(), ""])


class _MermaidWriter:
    def __init__(self, graph: Graph, options: PictureOptions) -> None:
        self.graph, self.options = graph, options
        self.names = {node.id: f"n{i}" for i, node in enumerate(graph.nodes)}
        self.boxes = {node.id: node for node in graph.nodes}
        self.members, self.inner = by_frame(graph.nodes), by_frame(graph.groups)
        self.frame_names = {group.id: f"g{i}" for i, group in enumerate(graph.groups)}

    def lines(self) -> Iterator[str]:
        if self.options.theme != "auto":
            chosen = _THEMES[self.options.theme]
            yield f'%%{{init: {{"theme": "{chosen}"}}}}%%'
        yield from (f"%% {_comment(line)}" for line in caption_lines(self.graph))
        if len(self.graph.edges) > MOST_ARROWS:
            yield f"%% more than {MOST_ARROWS} arrows need a higher maxEdges of Mermaid"
        yield f"flowchart {self.options.rankdir}"
        yield from self.contents("", "  ")
        for edge in self.graph.edges:
            yield self.arrow(edge)
        yield from self.looks()

    def contents(self, group: str, indent: str) -> Iterator[str]:
        """Yield the direct contents of a frame: its boxes, then the frames in it."""
        for node in self.members.get(group, []):
            yield f"{indent}%% {self.names[node.id]} is {_comment(json_text(node.id))}"
            yield f"{indent}{self.box(node)}"
        for inner in self.inner.get(group, []):
            name = self.frame_names[inner.id]
            title = "<br/>".join(escaped(line) for line in group_text(inner) if line)
            yield f"{indent}%% {name} is {_comment(json_text(inner.id))}"
            yield f'{indent}subgraph {name}["{title or escaped("")}"]'
            yield from self.contents(inner.id, indent + "  ")
            yield f"{indent}end"

    def box(self, node: GraphNode) -> str:
        text, style = box_text(node, self.options), theme.style_of(node.kind)
        lines = [f"<b>{escaped(f'{text.sign} {text.title}')}</b>"]
        lines += [escaped(line) for line in text.lines]
        lines += [f"<i>{escaped(line)}</i>" for line in text.marks]
        several = style.frames > 1 or int(node.attrs.get("copies", 1)) > 1
        outline = _SEVERAL if several else _OUTLINES[style.corners]
        return self.names[node.id] + outline.replace("|", "<br/>".join(lines))

    def arrow(self, edge: GraphEdge) -> str:
        line = _ARROWS.get(str(edge.attrs.get("role", "")), "-->")
        words = [one_line(edge.label)]
        if self.options.show_shapes and edge.attrs.get("role") != "bundle":
            words.append(one_line(str(edge.attrs.get("shape", ""))))
        state = theme.state_of(edge.attrs.get("state", ""))
        if state is not None:
            words.append(f"{state.glyph} {edge.attrs.get('note', '')}")
        label = " ".join(word.strip() for word in words if word.strip())
        if has_ports(self.boxes[edge.target], "inputs") and "operand" in edge.attrs:
            label = " · ".join(filter(None, [str(edge.attrs["operand"]), label]))
        if label:
            line += f'|"{escaped(label)}"|'
        return f"  {self.names[edge.source]} {line} {self.names[edge.target]}"

    # --- colours ---

    def looks(self) -> Iterator[str]:
        """Yield a Mermaid class for each kind of box and each state, with its boxes."""
        classes: dict[str, list[str]] = {}
        looks: dict[str, str] = {}
        for node in self.graph.nodes:
            state = theme.state_of(node.attrs.get("state", ""))
            name = f"kind_{node.kind if node.kind in theme.STYLES else 'layer'}"
            classes.setdefault(name, []).append(self.names[node.id])
            looks[name] = self.kind_look(node.kind)
            if state is not None or node.attrs.get("state") in theme.HEATS:
                name = f"state_{node.attrs['state']}"
                classes.setdefault(name, []).append(self.names[node.id])
                looks[name] = self.heat_look(name) if state is None else self.state_look(state)
        # A state follows the kind, because it replaces the kind's frame.
        for name in sorted(classes, key=lambda name: name.startswith("state_")):
            yield f"  classDef {name} {looks[name]}"
            yield f"  class {','.join(classes[name])} {name}"
        palette = self.options.palette
        for group in self.graph.groups:
            look = f"fill:{palette.group_fill},stroke:{palette.group_line},color:{palette.text}"
            yield f"  style {self.frame_names[group.id]} {look},stroke-dasharray:5 3"

    def kind_look(self, kind: str) -> str:
        palette, style = self.options.palette, theme.style_of(kind)
        hue = palette.hue_of(kind)
        colors = f"fill:{palette.fill(hue)},stroke:{palette.line(hue)}"
        width = "2px" if style.heavy else "1px"
        dashes = ",stroke-dasharray:4 3" if style.dashed else ""
        return f"{colors},color:{palette.text},stroke-width:{width}{dashes}"

    def heat_look(self, name: str) -> str:
        palette = self.options.palette
        return f"fill:{palette.heat(name.removeprefix('state_'))},stroke:{palette.quiet_text}"

    def state_look(self, state: theme.State) -> str:
        palette = self.options.palette
        parts = [f"stroke:{palette.line(state.hue)}"]
        parts.append(f"stroke-width:{'3px' if state.heavy else '1px'}")
        parts += ["stroke-dasharray:4 3"] if state.dashed else []
        if state.quiet:
            parts += [f"fill:{palette.background}", f"color:{palette.quiet_text}"]
        return ",".join(parts)


# --- text -----------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Return text escaped for Mermaid, for use inside quotation marks.

    Examples
    --------
    >>> escaped('a<b> & "c"'), escaped("")
    ('a#60;b#62; #38; #34;c#34;', '#160;')
    """
    text = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", one_line(clean(text)))
    return text if text.strip() else "#160;"


def json_text(text: str) -> str:
    """Return text as a JSON string on one line."""
    return json.dumps(clean(text), ensure_ascii=False)


def _comment(text: str) -> str:
    """Return text that is safe in a comment: on one line, and without directives (`%%{`)."""
    return one_line(text).replace("%", "\\u0025")

"""Names that people really give, and worse, in every format.

A renderer that is to be tried with them gets a function below that says what it has drawn: how many
boxes, how many arrows, and all texts. Then it stands in `FORMATS`.
"""

import html
import itertools
import re
from typing import NamedTuple
from xml.etree import ElementTree

import pygraphviz
import pytest

from kerascope.viz.boxes import PictureOptions, box_text, one_line, shortened
from kerascope.viz.exports.graphviz import render
from kerascope.viz.exports.to_dot import escaped as escaped_in_dot
from kerascope.viz.exports.to_dot import to_dot
from kerascope.viz.exports.to_mermaid import escaped as escaped_in_mermaid
from kerascope.viz.exports.to_mermaid import to_mermaid
from kerascope.viz.exports.to_networkx import from_graphml, from_json, to_graphml, to_json
from kerascope.viz.exports.to_svg import graph_sheet, to_svg
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import arrange
from kerascope.viz.sheet import Group, Label, Line, plain_sheet

ODD_NAMES = {
    "quotes": "say \"it\" 'twice' `thrice`",
    "brackets": "pipe|brace{x}[1]:p(y)",
    "markup": "<b>bold</b> a<b & c>d &lt; &amp; &#65;",
    "backslash": "C:\\new\\table \\N \\",
    "newline": "two\nlines\r\nthree",
    "tab": "a\tb",
    "control": "bell\x07 null\x00 escape\x1b c1\x9b",
    "emoji": "🎉👩‍👩‍👧 party",
    "chinese": "中文 日本語 größe→",
    "right to left": "שלום \u202etext\u202c",
    "long": "long_name_" * 30,
    "empty": "",
    "blank": "   ",
    "one removed": "same\x01",
    "another removed": "same\x02",
    "percent": "%a %% %{x}",
    "directive": '%%{init: {"theme":"dark"}}%%',
    "style": "style:#fff; classDef a fill:#fff;",
    "number": "1. item",
    "dash": "- item -->",
    "hash": "# &quot; #quot; $$x$$",
    "port": "node:port:n",
    "surrogate": "half \ud83d",
    "template": "{{ name }} ${name} <!-- c --> ]]> </script>",
    **{word: word for word in ("node", "edge", "graph", "digraph", "subgraph", "end")},
    **{word: word for word in ("strict", "default", "click")},
}


class Drawn(NamedTuple):
    """What a format shows."""

    boxes: int
    arrows: int
    texts: str


def by_graphviz(source):
    picture = pygraphviz.AGraph(string=source)
    labels = [box.attr["label"] for box in picture.nodes()]
    arrows = [e for e in picture.edges() if e.attr["style"] != "invis"]
    drawn = Drawn(len(picture.nodes()), len(arrows), html.unescape(" ".join(labels)))
    picture.close()
    return drawn


def dot(graph, options):
    return by_graphviz(to_dot(graph, options))


def print_marks(graph, options):
    """What PDF, PNG and TikZ draw."""
    sheet = graph_sheet(graph, options, *arrange(graph, options))
    boxes = [mark for mark in sheet.marks if isinstance(mark, Group) and mark.label is not None]
    marks = plain_sheet(sheet, "light").marks
    arrows = [mark for mark in marks if isinstance(mark, Line) and mark.curved]
    return Drawn(len(boxes), len(arrows), " ".join(m.text for m in marks if isinstance(m, Label)))


def graphml(graph, options):
    again = from_graphml(to_graphml(graph))
    assert len({box.id for box in again.nodes}) == len(graph.nodes)
    return Drawn(len(again.nodes), len(again.edges), " ".join(box.label for box in again.nodes))


def json_text(graph, options):
    again = from_json(to_json(graph))
    assert again == graph
    return Drawn(len(again.nodes), len(again.edges), " ".join(box.label for box in again.nodes))


MERMAID = {
    "box": r'  +n\d+(?:\("[^"]*"\)|\["[^"]*"\]|>"[^"]*"\]|\(\["[^"]*"\]\)|\[\["[^"]*"\]\])',
    "arrow": r'  n\d+ (?:-->|-\.->|==>)(?:\|"[^"]*"\|)? n\d+',
    "frame": r'  +subgraph g\d+\["[^"]*"\]',
    "end": r"  +end",
    "comment": r"\s*%%(?!\{)[^%]*",
    "beginning": r"flowchart (TB|LR)",
    "look": r"  (classDef|class|style) [\w,]+ [\w:#,\- ]+",
}


def mermaid(graph, options):
    """Take the text apart by the grammar of the lines that are written."""
    lines = to_mermaid(graph, options).splitlines()
    kinds = [
        next((kind for kind, form in MERMAID.items() if re.fullmatch(form, line)), line)
        for line in lines
    ]
    assert set(kinds) <= set(MERMAID)
    assert kinds.count("frame") == kinds.count("end") == len(graph.groups)
    boxes = [line for kind, line in zip(kinds, lines, strict=True) if kind == "box"]
    texts = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), " ".join(boxes))
    return Drawn(kinds.count("box"), kinds.count("arrow"), texts)


def svg(graph, options):
    root = ElementTree.fromstring(to_svg(graph, options))
    boxes = [group for group in root.iter() if group.get("role") == "img"]
    arrows = [path for path in root.iter() if path.get("data-source") is not None]
    texts = [text for group in boxes for text in group.itertext()]
    return Drawn(len(boxes), len(arrows), " ".join(texts))


FORMATS = [dot, print_marks, graphml, json_text, mermaid, svg]


def graph_of_odd_names():
    names = list(ODD_NAMES.values())
    boxes = [
        GraphNode(name, name, "dense", f"frame {name}" if i % 3 == 0 else "", len(names) - i)
        for i, name in enumerate(names)
    ]
    arrows = [
        GraphEdge(one, other, label=one)
        for one, other in itertools.pairwise(names)
        for _ in range(2)
    ]
    frames = [GraphGroup(f"frame {name}", name) for name in names[::3]]
    return Graph(ODD_NAMES["quotes"] + " {", tuple(boxes), tuple(arrows), tuple(frames))


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
@pytest.mark.parametrize("draw", FORMATS, ids=lambda draw: draw.__name__)
def test_every_box_and_every_arrow_is_there_whatever_the_names(draw, rankdir):
    graph = graph_of_odd_names()
    drawn = draw(graph, PictureOptions(rankdir=rankdir))
    assert (drawn.boxes, drawn.arrows) == (len(graph.nodes), len(graph.edges))


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
@pytest.mark.parametrize("draw", FORMATS, ids=lambda draw: draw.__name__)
def test_a_name_is_shown_as_it_is(draw, name):
    attrs = {"class_name": name, "detail": name, "outputs": name}
    boxes = GraphNode(name, name, "dense", name, 1, attrs), GraphNode("other", "", "op")
    groups = (GraphGroup(name, name),) if name else ()
    arrows = GraphEdge(name, "other", name), GraphEdge(name, "other", "")
    drawn = draw(Graph(name, boxes, arrows, groups), PictureOptions())
    assert drawn[:2] == (2, 2)
    forms = name, shortened(name), one_line(name), shortened(one_line(name))
    assert any(shown(form) in shown(drawn.texts) for form in forms)


def shown(text):
    """Return a text without what a format may leave out: blanks and what cannot be seen."""
    return "".join(c for c in text if c.isprintable() and c not in " \ufffd")


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_graphviz_draws_the_words(name):
    """The picture itself: a label with a mistake would be left out, and only a message written."""
    boxes = (GraphNode(name, name, "dense", attrs={"state": "failed", "note": name}),)
    source = to_dot(Graph(name, boxes, ()), PictureOptions())
    picture = html.unescape(render(source, "svg").decode("utf-8").replace("&#160;", " "))
    for word in box_text(boxes[0], PictureOptions()).title.split():
        assert word in picture


def test_names_in_a_graph_are_escaped_once():
    assert escaped_in_dot("a&lt;b") == "a&amp;lt;b"
    assert escaped_in_mermaid("#60;") == "#35;60#59;"

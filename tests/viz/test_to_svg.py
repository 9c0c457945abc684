"""Our own SVG: every box and arrow of the graph, legible, the same at every run."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from graph_strategies import graphs
from holding import holds_for
from zoo import THINNED_ZOO, ZOO

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.to_svg import to_svg
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.theme import STATES, STYLES, contrast

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = [PictureOptions(), PictureOptions(rankdir="LR", theme="dark", depth_ranks=True)]


def parsed(graph, options=None):
    return ElementTree.fromstring(to_svg(graph, options))


def boxes_of(root):
    return [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("box")]


def edges_of(root):
    paths = [p for p in root.iter(f"{SVG}path") if p.get("class", "").startswith("edge")]
    return [(path.get("data-source"), path.get("data-target")) for path in paths]


@pytest.mark.parametrize("options", OPTIONS, ids=["TB", "LR"])
@pytest.mark.parametrize("level", ["node", "layer"])
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_box_and_every_arrow_is_drawn(name, level, options):
    graph = graph_of(ZOO[name](), level)
    root = parsed(graph, options)
    assert sorted(g.get("data-id") for g in boxes_of(root)) == sorted(n.id for n in graph.nodes)
    assert edges_of(root) == [(edge.source, edge.target) for edge in graph.edges]


@holds_for(graph=graphs(), few=10, many=30)
def test_any_graph_makes_well_formed_xml(graph):
    root = parsed(graph)
    assert len(boxes_of(root)) == len(graph.nodes)
    assert len(edges_of(root)) == len(graph.edges)
    frames = [r for r in root.iter(f"{SVG}rect") if r.get("class") == "frame"]
    assert len(frames) == len(graph.groups)


def test_boxes_come_in_the_order_in_which_data_flows():
    graph = graph_of(ZOO["several_ends"]())
    place = {g.get("data-id"): i for i, g in enumerate(boxes_of(parsed(graph)))}
    assert all(place[edge.source] < place[edge.target] for edge in graph.edges)


def test_every_box_has_words_for_a_screen_reader_and_a_tooltip():
    for g in boxes_of(parsed(graph_of(ZOO["shared_layer"]()))):
        assert g.get("role") == "img"
        assert g.find(f"{SVG}title").text.startswith(g.get("data-id"))
    labels = [g.get("aria-label") for g in boxes_of(parsed(graph_of(ZOO["shared_layer"]())))]
    assert "same layer, call 2 of 2" in " ".join(labels)
    assert labels[-1] == "same, Dense · sigmoid · 17 params, (None, 1), ► output; from joined"


def test_the_picture_has_a_title_and_a_description():
    root = parsed(graph_of(ZOO["diamond"]()))
    assert root.find(f"{SVG}title").text == "diamond"
    assert "4 boxes, 4 arrows" in root.find(f"{SVG}desc").text


def test_a_theme_is_fixed_or_follows_the_reader():
    graph = graph_of(ZOO["chain"]())
    assert "prefers-color-scheme:dark" in to_svg(graph)
    assert "prefers-color-scheme" not in to_svg(graph, PictureOptions(theme="dark"))
    assert to_svg(graph, PictureOptions(theme="dark")) != to_svg(
        graph, PictureOptions(theme="light")
    )


def every_look():
    """A graph with a box of every kind and in every state."""
    attrs = {"parameters": 3, "output_shapes": "(None, 3)", "input_count": 2}
    nodes = [GraphNode(kind, kind, kind, attrs=attrs) for kind in STYLES]
    nodes += [GraphNode(f"in {s}", s, "dense", attrs={"state": s}) for s in STATES]
    edges = [GraphEdge("op", "sum", "", {"state": state}) for state in STATES]
    edges += [GraphEdge("sum", "op", "", {"role": role}) for role in ("gradient", "update")]
    return Graph("looks", tuple(nodes), tuple(edges))


def rules(svg):
    """The colours of the style sheet: (selector, {property: value})."""
    sheet = svg[svg.index("<style>") : svg.index("</style>")]
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        pairs = [part.split(":") for part in body.split(";") if ":#" in part]
        yield selector.strip(), dict(pairs)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colours_written_reach_their_contrast(theme):
    svg = to_svg(every_look(), PictureOptions(theme=theme))
    found = {}
    for selector, colours in rules(svg):
        for part in selector.split(","):
            found.setdefault(part.split(f".{theme} ")[-1].strip(), {}).update(colours)
    ground = found[".ground"]["fill"]
    for kind in STYLES:
        box = found[f".k-{kind} .line"]
        assert contrast(box["stroke"], ground) >= 3
        assert contrast(box["stroke"], box["fill"]) >= 3
        for words in (".title", ".quiet", ".mark", f".k-{kind} .sign"):
            assert contrast(found[words]["fill"], box["fill"]) >= 4.5, (kind, words)
    fills = [found[f".k-{kind} .line"]["fill"] for kind in STYLES]
    for state in STATES:
        line = found[f".box.is-{state} .line"]["stroke"]
        assert min(contrast(line, fill) for fill in fills) >= 3
        assert contrast(found[f".box.is-{state} .line"]["stroke"], ground) >= 3
        assert found[f".edge.is-{state}"]["stroke"] == found[f".head.is-{state}"]["fill"]
    for role in ("gradient", "update"):
        assert contrast(found[f".edge.{role}"]["stroke"], ground) >= 3


def test_an_arrow_head_of_every_look_is_there():
    svg = to_svg(every_look())
    used = set(re.findall(r"url\(#([^)]+)\)", svg))
    assert used == set(re.findall(r'<marker id="([^"]+)"', svg))


def test_texts_stay_in_their_boxes():
    """Every text is pinned to a width, begins in its box and ends in it."""
    root = parsed(every_look())
    for g in boxes_of(root):
        line = next(part for part in g if part.get("class") == "line")
        if line.get("x") is None:
            continue
        left, width = float(line.get("x")), float(line.get("width"))
        for text in g.iter(f"{SVG}text"):
            x, length = float(text.get("x")), float(text.get("textLength"))
            assert left <= x
            assert x + length <= left + width


def test_lines_of_a_box_do_not_touch():
    graph = Graph(
        "tall",
        (GraphNode("a", "a", "dense", attrs={"detail": "one\ntwo\nthree", "state": "failed"}),),
        (),
    )
    (g,) = boxes_of(parsed(graph))
    rows = sorted({float(text.get("y")) for text in g.iter(f"{SVG}text")})
    assert len(rows) == 5
    assert all(lower - upper >= 12 for upper, lower in pairwise(rows))

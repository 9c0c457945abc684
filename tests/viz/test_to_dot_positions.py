import dataclasses
import re
from xml.etree import ElementTree

import pytest
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.graphviz import render
from kerascope.viz.exports.to_dot import (
    HEAD_LENGTH,
    shortened_line,
    to_dot_with_positions,
)
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import Path, Placed, Rect, arrange

SVG = "{http://www.w3.org/2000/svg}"

SMALL = Graph(
    "small",
    (GraphNode("a", "a", "input", "", 1), GraphNode("b", "b", "dense", "f", 0)),
    (GraphEdge("a", "b", "x2"),),
    (GraphGroup("f", "frame", "", 0),),
)
PLACED = Placed(
    width=200.0,
    height=300.0,
    boxes={"a": Rect(20, 50, 80, 40), "b": Rect(60, 200, 100, 50)},
    frames={"f": Rect(40, 150, 140, 120)},
    paths=(Path(((60.0, 90.0), (60.0, 140.0), (110.0, 150.0), (110.0, 200.0))),),
    caption=Rect(10, 5, 60, 22),
    edge_labels={0: Rect(70, 100, 20, 10)},
    depths={1: Rect(0, 60, 15, 20)},
)


def drawn(source):
    """Return the SVG's groups by their ids."""
    root = ElementTree.fromstring(render(source, "svg", engine="positions"))
    return {group.get("id"): group for group in root.iter(f"{SVG}g")}


def corners(group):
    """Return left, upper, right and lower end of what is drawn first in a group."""
    shape = next(x for x in group.iter() if x.tag in (f"{SVG}path", f"{SVG}polygon"))
    numbers = [float(x) for x in re.findall(r"-?[\d.]+", shape.get("d") or shape.get("points"))]
    across, along = numbers[::2], numbers[1::2]
    return min(across), min(along), max(across), max(along)


def test_everything_lies_where_the_layout_says():
    groups = drawn(to_dot_with_positions(SMALL, PictureOptions(), PLACED))
    # Graphviz's SVG has the lower left corner of the picture as its origin.
    for name, rect in {
        "node-a": PLACED.boxes["a"],
        "node-b": PLACED.boxes["b"],
        "group-f": PLACED.frames["f"],
    }.items():
        expected = (rect.x, rect.y - 300, rect.right, rect.bottom - 300)
        assert corners(groups[name]) == pytest.approx(expected, abs=0.6)
    line = next(groups["edge-0"].iter(f"{SVG}path")).get("d")
    assert line == "M60,-210C60,-160 110,-156 110,-106"
    assert corners(groups["edge-0"])[3] == pytest.approx(-106, abs=0.1)
    tip = next(groups["edge-0"].iter(f"{SVG}polygon")).get("points")
    heights = [float(pair.split(",")[1]) for pair in tip.split()]
    assert max(heights) == pytest.approx(-100, abs=2)  # half a line's width below
    assert "depth-1" in groups


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_box_and_arrow_of_the_zoo_is_drawn_as_our_layout_says(name, rankdir):
    graph = graph_of(ZOO[name](), expand_nested=True)
    options = PictureOptions(rankdir=rankdir, depth_ranks=True)
    placed, _ = arrange(graph, options)
    groups = drawn(to_dot_with_positions(graph, options, placed))
    ids = {f"node-{node.id}" for node in graph.nodes}
    ids |= {f"edge-{number}" for number in range(len(graph.edges))}
    ids |= {f"group-{group.id}" for group in graph.groups}
    assert ids <= set(groups)
    for node in graph.nodes:
        rect = placed.boxes[node.id]
        expected = (rect.x, rect.y - placed.height, rect.right, rect.bottom - placed.height)
        assert corners(groups[f"node-{node.id}"]) == pytest.approx(expected, abs=10)


@pytest.mark.parametrize("name", ["siamese", "several_ends", "many_branches"])
def test_the_words_stay_inside_their_boxes(name):
    graph = graph_of(ZOO[name](), expand_nested=True)
    placed, _ = arrange(graph, PictureOptions())
    groups = drawn(to_dot_with_positions(graph, PictureOptions(), placed))
    for node in graph.nodes:
        left, upper, right, lower = corners(groups[f"node-{node.id}"])
        texts = list(groups[f"node-{node.id}"].iter(f"{SVG}text"))
        assert texts
        for text in texts:
            assert left <= float(text.get("x")) <= right
            assert upper + 6 <= float(text.get("y")) <= lower


def test_png_and_pdf_have_the_size_of_the_layout():
    source = to_dot_with_positions(SMALL, PictureOptions(), PLACED)
    assert render(source, "pdf", engine="positions").startswith(b"%PDF")
    png = render(source, "png", engine="positions", dpi=72)
    assert int.from_bytes(png[16:20]) <= 200 + 40
    assert 200 <= int.from_bytes(png[20:24]) <= 300 + 40


@pytest.mark.parametrize("count", [1200, pytest.param(3000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_need_no_dot(count):
    nodes = tuple(GraphNode(f"b{i}", f"b{i}", "dense", "", count - i) for i in range(count))
    edges = tuple(GraphEdge(f"b{i}", f"b{i + 1}") for i in range(count - 1))
    graph = Graph("big", nodes, edges)
    placed, _ = arrange(graph, PictureOptions())
    source = to_dot_with_positions(graph, PictureOptions(), placed)
    assert render(source, "svg", engine="positions").count(b'class="node"') == count


def test_a_line_is_shortened_where_it_arrives():
    line = ((0.0, 0.0), (10.0, 0.0), (20.0, 0.0), (30.0, 0.0))
    assert shortened_line(line, HEAD_LENGTH)[-2:] == ((14.0, 0.0), (24.0, 0.0))
    short = ((0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (4.0, 0.0))
    assert shortened_line(short, HEAD_LENGTH)[-1] == (2.0, 0.0)
    no_control = ((0.0, 0.0), (0.0, 0.0), (0.0, 20.0), (0.0, 20.0))
    assert shortened_line(no_control, HEAD_LENGTH)[-1] == (0.0, 14.0)
    point = ((1.0, 1.0),) * 4
    assert shortened_line(point, HEAD_LENGTH) == point


def test_graphviz_has_nothing_to_say_of_closed_frames(capfd, tmp_path):
    inputs = ks.Input((7,))
    embedded = ks.layers.Embedding(50, 8, mask_zero=True)(inputs)
    read = ks.layers.Bidirectional(ks.layers.LSTM(6, return_sequences=True))(embedded)
    told = ks.layers.TimeDistributed(ks.layers.Dense(5))(read)
    ks.draw(ks.Model(inputs, ks.layers.GRU(4)(told)), level="op", to=tmp_path / "op.png")
    assert "too small" not in capfd.readouterr().err


def test_the_label_of_an_arrow_lies_on_a_ground_above_the_other_arrows():
    edges = (GraphEdge("a", "b", "x2"), GraphEdge("a", "b"))
    graph = Graph("small", SMALL.nodes, edges, SMALL.groups)
    placed = dataclasses.replace(PLACED, paths=PLACED.paths * 2)
    source = to_dot_with_positions(graph, PictureOptions(), placed)
    drawn_last = [line for line in source.splitlines() if "->" in line][-1]
    assert 'id="edge-0"' in drawn_last
    *_, ground, text = drawn(source)["edge-0"].iter()
    assert (ground.tag, ground.get("fill")) == (f"{SVG}polygon", "#ffffff")
    assert (text.tag, text.text) == (f"{SVG}text", "x2")

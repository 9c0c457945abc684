"""The page as a text; what it does in a browser is in test_viewer_in_browser.py."""

import json
import re
from pathlib import Path

import pytest
from zoo import LARGE_ZOO, THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.printable import printable_lines
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.collapse.view import closed_by_default
from kerascope.viz.exports import page as page_module
from kerascope.viz.exports import to_html as module
from kerascope.viz.exports.to_html import as_script, closed_frames, to_html
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.order import ordered_levels

VIEWER = Path(module.__file__).parent / "viewer"
ODD = '</script><script>alert("1")</script><!-- \' & \u2028 全连接 🙂 ' + "x" * 300


def whole(name: str) -> Graph:
    models = {**ZOO, **LARGE_ZOO}
    return with_blocks(graph_of(models[name](), "node", True))


def data_of(page: str) -> dict:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert len(found) == 1
    return json.loads(found[0])


def attributes_of(data: dict, number: int) -> dict:
    strings = data["strings"]
    pairs = data["attributes"][number]
    values = (v[0] if isinstance(v, list) else strings[v] for v in pairs[1::2])
    return dict(zip((strings[key] for key in pairs[::2]), values, strict=True))


def test_the_page_is_one_file_that_names_nothing_in_the_network():
    page = to_html(whole("siamese"))
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(
        r"(https?:)?//[a-z]", re.sub(r"^\s*//.*$", "", without_namespace, flags=re.M)
    )
    assert not re.search(r"<link|<img|<iframe|@import|\bsrc=|\bfetch\(|XMLHttpRequest", page)


def test_the_policy_allows_this_script_and_no_other():
    page = to_html(whole("siamese"))
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy[1]
    assert "script-src 'unsafe-inline'" not in policy[1]


def test_every_script_of_the_viewer_is_in_the_page_and_writes_no_markup():
    model = ZOO["chain"]()
    model.compile("sgd", "mse")
    page = to_html(graph_of(model, "training"))
    scripts = (*page_module.SCRIPTS, *page_module.LADDER_SCRIPTS, "start")
    names = {f"{name}.js" for name in (*scripts, "unpack")}  # which only a page that is packed has
    assert names == {path.name for path in VIEWER.glob("*.js")}
    assert "class Ladder " not in to_html(whole("chain"))
    for name in scripts:
        path = VIEWER / f"{name}.js"
        source = path.read_text(encoding="utf-8")
        assert page_module.lean(source) in page
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source
        )
        assert len(source.splitlines()) <= 400, path.name
        assert max(map(len, source.splitlines())) <= 100, path.name


def test_the_page_of_resnet50_is_small():
    page = to_html(whole("resnet50"))
    assert len(page.encode()) < 300_000


def test_the_page_of_the_training_of_resnet50_is_no_book():
    model = LARGE_ZOO["resnet50"]()
    model.compile("adam", "categorical_crossentropy")
    assert len(ks.draw(model, level="training").html.encode()) < 700_000


@pytest.mark.parametrize("name", [*THINNED_ZOO, "resnet50"])
def test_the_data_says_what_the_graph_says(name: str):
    graph = whole(name)
    data = data_of(to_html(graph))
    strings = data["strings"]
    parts = [*graph.nodes, *graph.groups]
    assert [strings[box[0]] for box in data["boxes"]] == [part.id for part in parts]
    for box, node in zip(data["boxes"], graph.nodes, strict=False):
        expected = {key: value for key, value in node.attrs.items() if value != ""}
        assert {"layer": node.label, **attributes_of(data, box[8])} == {
            "layer": node.label,
            **expected,
        }
    ends = [
        (strings[data["boxes"][i][0]], strings[data["boxes"][j][0]]) for i, j, *_ in data["edges"]
    ]
    assert ends == [(edge.source, edge.target) for edge in graph.edges]
    for row, edge in zip(data["edges"], graph.edges, strict=True):
        assert attributes_of(data, row[2]) == {k: v for k, v in edge.attrs.items() if v != ""}


def test_the_rows_are_those_of_the_layout():
    graph = whole("three_levels")
    data = data_of(to_html(graph))
    for level, row in zip(ordered_levels(graph).values(), data["levels"], strict=True):
        assert row[3] == level.rows
        assert [route[4:] for route in row[5]] == [route.stops for route in level.routes]


def test_what_is_closed_at_first_is_what_a_person_can_read_or_what_was_asked_for():
    graph = whole("resnet50")
    ids = [group.id for group in graph.groups]
    shut = {ids[number] for number in data_of(to_html(graph))["closed"]}
    assert shut == closed_by_default(graph)
    assert data_of(to_html(graph, closed=[]))["closed"] == []
    assert data_of(to_html(graph, closed=ids[:1]))["closed"] == [0]


def test_a_closed_group_that_does_not_exist_is_an_error():
    with pytest.raises(ArgumentError, match=r"to_html: there is no frame 'encodr'"):
        to_html(whole("siamese"), closed=["encodr"])


@pytest.mark.parametrize("name", ["siamese", "three_levels", "nested_with_two_outputs", "resnet50"])
def test_a_closed_frame_is_the_box_that_collapsed_gives(name: str):
    graph = whole(name)
    frames = closed_frames(graph)
    outer = [group.id for group in graph.groups if not group.parent]
    small = collapsed(graph, outer)
    for node in small.nodes:
        if node.id in frames.boxes:
            assert frames.boxes[node.id] == node
    for edge in small.edges:
        assert edge.target not in outer or edge.attrs["operand"] in {
            port for (_, group), port in frames.operands.items() if group == edge.target
        }


def test_arrows_that_a_closed_block_takes_as_one_have_one_port():
    boxes = (
        GraphNode("x", "x", "input", depth=2),
        *(GraphNode(name, name, "dense", "block", 0) for name in ("left", "right")),
    )
    edges = tuple(GraphEdge("x", name, "", {"output": 0}) for name in ("left", "right"))
    groups = (GraphGroup("block", "block", depth=1, attrs={"kind": "block"}),)
    frames = closed_frames(Graph("g", boxes, edges, groups))
    assert frames.operands == {(0, "block"): 0, (1, "block"): 0}


def test_no_name_ends_the_script_or_becomes_markup():
    boxes = (GraphNode(ODD, ODD, "dense", attrs={"class_name": ODD}),)
    page = to_html(Graph(ODD, boxes, ()))
    assert "</script><script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 2
    data = data_of(page)
    assert data["strings"][data["boxes"][0][0]] == printable_lines(ODD)


def test_numbers_that_json_does_not_know_are_texts():
    boxes = (GraphNode("a", "a", "dense", attrs={"loss": float("nan"), "most": float("inf")}),)
    data = data_of(to_html(Graph("g", boxes, ())))
    assert attributes_of(data, 0) == {"loss": "nan", "most": "inf"}


def test_as_script_escapes_every_opening_bracket():
    text = as_script({"a": "<!-- <b> </script>"})
    assert "<" not in text
    assert json.loads(text) == {"a": "<!-- <b> </script>"}


def test_a_graph_without_boxes_has_a_page():
    assert data_of(to_html(Graph("empty", (), ())))["boxes"] == []


def test_a_page_knows_its_theme_and_direction():
    page = to_html(whole("chain"), PictureOptions(theme="dark", rankdir="LR"))
    assert '<html lang="en" data-theme="dark">' in page
    assert data_of(page)["rankdir"] == "LR"

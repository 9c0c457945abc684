"""The page in a browser: its layout is Python's, its colours can be read, it may be large."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import browser
from viewer_pages import box, pages, places, whole
from zoo import LARGE_ZOO, ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope.layers import Dense, Input
from kerascope.models import Sequential
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.collapse.view import closed_by_default, closed_with_twins
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import Rect, arrange
from kerascope.viz.layout.ladder import arrange_ladder
from kerascope.viz.theme import STATES, STYLES, contrast

pytestmark = pytest.mark.browser

# Each visible thing that has a colour, with what lies behind it.
COLOURS = """() => {
  const style = (element) => getComputedStyle(element);
  const found = { text: [], line: [] };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = style(e).backgroundColor;
      if (color && color !== "rgba(0, 0, 0, 0)") return color;
    }
  };
  const ground = behind(document.querySelector("#canvas"));
  const frame = document.querySelector("rect.frame");
  const inFrame = frame ? style(frame).fill : ground;
  for (const box of document.querySelectorAll("g.box")) {
    const line = box.querySelector(".line");
    for (const text of box.querySelectorAll("text"))
      found.text.push([style(text).fill, style(line).fill, box.dataset.id + text.textContent]);
    for (const back of [ground, inFrame, style(line).fill])
      found.line.push([style(line).stroke, back, "outline " + box.dataset.id]);
    for (const cells of box.querySelectorAll(".cells"))
      found.line.push([style(cells).stroke, style(line).fill, "cells " + box.dataset.id]);
  }
  for (const text of document.querySelectorAll(".frame-title text"))
    found.text.push([style(text).fill, inFrame, text.textContent]);
  for (const text of document.querySelectorAll(".depths text, .labels > text"))
    found.text.push([style(text).fill, ground, text.textContent]);
  for (const back of [ground, inFrame]) {
    for (const edge of document.querySelectorAll(".edge"))
      found.line.push([style(edge).stroke, back, edge.getAttribute("class")]);
    for (const head of document.querySelectorAll(".head"))
      found.line.push([style(head).fill, back, head.id]);
    for (const sign of document.querySelectorAll(".opening circle"))
      found.line.push([style(sign).stroke, back, "opening"]);
    for (const ring of document.querySelectorAll(".chosen > .ring, .found > .ring"))
      found.line.push([style(ring).stroke, back, "ring"]);
  }
  if (frame) found.line.push([style(frame).stroke, ground, "frame"]);
  const words = "header label, header button, #status, #count, aside *, dialog *";
  for (const element of document.querySelectorAll(words)) {
    if (!element.textContent.trim() || !element.getClientRects().length) continue;
    found.text.push([style(element).color, behind(element), element.textContent]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    with pages(chromium, tmp_path) as open_page:
        yield open_page


def largest_difference(one: dict[str, Rect], other: dict[str, Rect]) -> float:
    """Return by how much two layouts differ, wherever their captions put them."""
    assert set(one) == set(other)
    pairs = [(one[name], other[name]) for name in one]
    left, top = pairs[0][0].x - pairs[0][1].x, pairs[0][0].y - pairs[0][1].y
    return max(
        max(abs(a.x - b.x - left), abs(a.y - b.y - top), abs(a.width - b.width),
            abs(a.height - b.height))
        for a, b in pairs
    )  # fmt: skip


def check_no_overlaps(boxes: dict[str, Rect]) -> None:
    rects = sorted(boxes.items(), key=lambda item: item[1].y)
    for number, (name, rect) in enumerate(rects):
        for other_name, other in rects[number + 1 :]:
            if other.y >= rect.bottom:
                break
            assert not rect.overlaps(other), (name, other_name)


# --- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
@pytest.mark.parametrize(
    "name",
    ["siamese", "nested_in_nested", "several_ends", "three_levels", "many_branches", "resnet50"],
)
def test_everything_open_lies_where_python_puts_it(opened: Any, name: str, rankdir: str):
    check_all_places(opened, whole(name), rankdir)


def test_arrows_that_run_upward_lie_where_python_puts_them(opened: Any):
    x = K.placeholder((2, 3), name="x")
    w = K.variable(np.ones((3, 3)), name="w")
    loss = K.mean(K.square(K.dot(K.dot(x, w), w)))
    graph = graph_of(loss, "gradient", wrt=[w])
    assert any(edge.attrs.get("role") == "gradient" for edge in graph.edges)
    check_all_places(opened, graph, "TB")


# --- ladders --------------------------------------------------------------------------------------

# What a ladder's page draws: boxes, frames, lines with what they stand for, and words.
LADDER = """() => {
  const { picture, graph, showing } = kerascopeViewer;
  const { strokes, words } = picture.places;
  const ends = (n) => {
    const { source, target } = showing.arrows.get(n);
    return [graph.boxes[source].id, graph.boxes[target].id];
  };
  return {
    strokes: strokes.map((s) =>
      [s.edges.map(ends), s.look, s.isMark, s.whenPointed, s.width, s.points]),
    words: words.map(({ words, x, y, look }) => [words.text, look, x, y]),
  };
}"""


def check_ladder(page: Any, graph: Graph, closed: Any) -> None:
    """Compare the page with Python's layout of the same frames closed."""
    small = collapsed(graph, closed)
    small = replace(small, attrs=graph.attrs)  # a page counts what is closed elsewhere
    expected, _ = arrange_ladder(small, PictureOptions(depth_ranks=True))
    found, drawn = places(page), page.evaluate(LADDER)
    for own, theirs in ((found["boxes"], expected.boxes), (found["frames"], expected.frames)):
        assert set(own) == set(theirs)
        for name, rect in theirs.items():
            one, other = own[name], rect
            assert (one.x, one.y, one.width, one.height) == pytest.approx(
                (other.x, other.y, other.width, other.height), abs=0.1
            )
    assert found["size"] == pytest.approx([expected.width, expected.height], abs=0.1)
    assert len(drawn["strokes"]) == len(expected.strokes)
    for line, stroke in zip(drawn["strokes"], expected.strokes, strict=True):
        ends = [[small.edges[n].source, small.edges[n].target] for n in stroke.edges]
        assert line[:4] == [ends, stroke.look, stroke.is_mark, stroke.when_pointed]
        assert line[4] == pytest.approx(stroke.width)
        assert len(line[5]) == len(stroke.path.points)
        for point, (x, y) in zip(line[5], stroke.path.points, strict=True):
            assert point == pytest.approx([x, y], abs=0.1)
    assert [word[:2] for word in drawn["words"]] == [
        [w.text, w.look.removeprefix("word ")] for w in expected.words
    ]
    for (*_, x, y), word in zip(drawn["words"], expected.words, strict=True):
        assert (x, y) == pytest.approx((word.x, word.y), abs=0.1)


@pytest.mark.parametrize("level", ["gradient", "training"])
@pytest.mark.parametrize(
    "name",
    ["siamese", "several_ends", "many_branches", "chain",
     pytest.param("resnet50", marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_ladder_lies_where_python_puts_it_whatever_is_open(opened: Any, name: str, level: str):
    model = {**ZOO, **LARGE_ZOO}[name]()
    model.compile("adam", "mse")
    check_openings(opened, ks.draw(model, level=level))


@pytest.mark.parametrize("name", ["siamese", pytest.param("three_levels", marks=pytest.mark.slow)])
def test_a_ladder_with_nested_models_lies_where_python_puts_it(opened: Any, name: str):
    model = ZOO[name]()
    model.compile("adam", "mse")
    check_openings(opened, ks.draw(model, level="training", expand=1))


def check_openings(opened: Any, drawing: Any) -> None:
    """Open the page, then close and open frames by chance."""
    graph = drawing.whole
    page = opened(graph, closed=drawing.view.closed, picture={"depth_ranks": True})
    check_ladder(page, graph, drawing.view.closed)
    chance = random.Random(4)
    numbers = {group.id: number for number, group in enumerate(graph.groups)}
    for _ in range(3 if len(graph.nodes) < 1000 else 1):  # a large one takes minutes
        closed = closed_with_twins(graph, (one for one in numbers if chance.random() < 0.6))
        page.evaluate("closed => kerascopeViewer.setClosed(closed)", [numbers[x] for x in closed])
        check_ladder(page, graph, closed)


def test_the_sizes_of_a_batch_stand_on_the_page_as_bars_and_widths(opened: Any):
    model = Sequential([Input((3,), name="x"), Dense(4, "relu", name="a"), Dense(1, name="b")])
    model.compile("adam", "mse")
    batch = np.ones((2, 3)), np.zeros((2, 1))
    graph = ks.draw(model, level="training", gradients=batch).whole
    page = opened(graph, picture={"depth_ranks": True})
    check_ladder(page, graph, ())
    cell = graph.node("grad:b/kernel")
    bar = box(page, cell.id).locator(".bar")
    ground = box(page, cell.id).locator(".bar-ground")
    share = bar.bounding_box()["width"] / ground.bounding_box()["width"]
    assert share == pytest.approx(cell.attrs["share"], abs=0.02)
    assert "\u2016\u2202\u2016" in box(page, cell.id).text_content()


def test_the_input_of_a_gradient_is_drawn_while_that_is_pointed_at_or_chosen(opened: Any):
    model = Sequential([Input((3,), name="x"), Dense(4, name="a"), Dense(1, name="b")])
    model.compile("sgd", "mse")
    page = opened(ks.draw(model, level="training").whole)
    line = page.locator('.when-pointed[data-source="a"][data-target="grad:b/kernel"]')
    seen = "line => getComputedStyle(line).visibility"
    assert line.evaluate(seen) == "hidden"
    box(page, "grad:b/kernel").hover()
    assert line.evaluate(seen) == "visible"
    box(page, "b").hover()
    assert line.evaluate(seen) == "hidden"
    box(page, "grad:b/kernel").click()
    box(page, "b").hover()
    assert line.evaluate(seen) == "visible"
    assert "of the weight" in page.locator("#details").text_content()


def test_a_card_opens_and_closes_by_clicks_and_is_found_by_its_weights(opened: Any):
    model = Sequential([Input((3,), name="x"), Dense(4, name="a"), Dense(1, name="b")])
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="training").whole
    cards = [group.id for group in graph.groups]
    page = opened(graph, closed=cards)
    assert page.locator("#turn").is_hidden()
    box(page, cards[0]).click()
    assert "a/kernel" in places(page)["boxes"]
    page.locator(f'.frame-title[data-id="{cards[0]}"]').click()
    assert "a/kernel" not in places(page)["boxes"]
    page.fill("#search", "b/kernel")
    page.locator("#count", has_text="1 of").wait_for()
    assert {"b/kernel", "grad:b/kernel"} <= set(places(page)["boxes"])


def test_on_the_page_a_block_of_a_ladder_opens_on_both_rails_and_with_its_cards(opened: Any):
    layers = [Dense(4, activation="relu", name=f"dense_{number}") for number in range(12)]
    model = Sequential([Input((4,), name="x"), *layers])
    model.compile("sgd", "mse")
    drawing = ks.draw(model, level="training", most=12)
    page = opened(drawing.whole, closed=drawing.view.closed)
    block = next(g.id for g in drawing.whole.groups if g.attrs.get("rail") == "forward")
    family = {g.id for g in drawing.whole.groups if block in (g.id, g.attrs.get("twin"))}
    assert len(family) == 3
    shown = {node.id for node in drawing.graph.nodes}
    assert set(places(page)["boxes"]) == shown
    assert family <= shown
    number = [g.id for g in drawing.whole.groups].index(block)
    page.evaluate("group => kerascopeViewer.toggle(kerascopeViewer.graph.count + group)", number)
    assert not family & set(places(page)["boxes"])


@pytest.mark.parametrize("seed", range(3))
def test_graphs_of_any_form_lie_where_python_puts_them(opened: Any, seed: int):
    check_all_places(opened, random_graph(random.Random(seed)), "TB")


def random_graph(chance: random.Random) -> Graph:
    """Return a graph with frames in frames, arrows of any length and direction, and labels."""
    groups: list[GraphGroup] = []
    for number in range(7):
        parent = chance.choice(["", *(group.id for group in groups)])
        groups.append(GraphGroup(f"g{number}", f"g{number}", parent, chance.randrange(9)))
    around = ["", "", *(group.id for group in groups)]
    nodes = [
        GraphNode(f"n{number}", "n" * chance.randrange(1, 30), "dense", chance.choice(around),
                  chance.randrange(12), {"input_count": 3, "output_count": chance.randrange(3)})
        for number in range(60)
    ]  # fmt: skip
    edges = []
    for _ in range(90):
        source, target = chance.choice(nodes).id, chance.choice(nodes).id
        label = chance.choice(["", "", "", "label"])
        edges.append(GraphEdge(source, target, label, {"operand": chance.randrange(3)}))
    return Graph("random", tuple(nodes), tuple(edges), tuple(groups))


def check_all_places(opened: Any, graph: Graph, rankdir: str) -> None:
    picture = {"rankdir": rankdir, "depth_ranks": True}
    page = opened(graph, closed=(), picture=picture)
    found, (expected, _) = places(page), arrange(graph, PictureOptions(**picture))
    for name, rect in expected.boxes.items():
        assert abs(found["boxes"][name].x - rect.x) <= 1
        assert abs(found["boxes"][name].y - rect.y) <= 1
    assert largest_difference(found["boxes"], dict(expected.boxes)) <= 1
    if expected.frames:
        assert largest_difference(found["frames"], dict(expected.frames)) <= 1
    assert found["size"] == pytest.approx([expected.width, expected.height], abs=1)
    assert len(found["paths"]) == len(graph.edges)
    for number, path in enumerate(expected.paths):
        assert len(found["paths"][number]) == len(path.points)
        for point, (x, y) in zip(found["paths"][number], path.points, strict=True):
            assert point == pytest.approx([x, y], abs=1)


@pytest.mark.parametrize(
    "name", ["siamese", "nested_in_nested", "several_ends", "three_levels", "resnet50"]
)
def test_the_first_view_lies_where_python_puts_the_collapsed_graph(opened: Any, name: str):
    graph = whole(name)
    small = collapsed(graph, closed_by_default(graph))
    found, (expected, _) = places(opened(graph)), arrange(small, PictureOptions())
    assert largest_difference(found["boxes"], dict(expected.boxes)) <= 1
    assert len(found["paths"]) == len(small.edges)


@pytest.mark.parametrize("name", ["three_levels", "resnet50"])
def test_no_boxes_overlap_whatever_is_open(opened: Any, name: str):
    graph = whole(name)
    page = opened(graph)
    chance = random.Random(4)
    for _ in range(8):
        groups = range(len(graph.groups))
        closed = [number for number in groups if chance.random() < 0.5]
        page.evaluate("closed => kerascopeViewer.setClosed(closed)", closed)
        found = places(page)
        check_no_overlaps(found["boxes"])
        ids = {graph.groups[number].id for number in closed}
        small = collapsed(graph, ids)
        assert set(found["boxes"]) == {node.id for node in small.nodes}
        assert set(found["frames"]) == {group.id for group in small.groups}
        assert len(found["paths"]) == len(small.edges)
        for frame in small.groups:
            rect = found["frames"][frame.id]
            inside = [found["boxes"][n.id] for n in small.nodes if n.group == frame.id]
            for inner in inside:
                assert rect.x <= inner.x
                assert rect.y <= inner.y
                assert inner.right <= rect.right
                assert inner.bottom <= rect.bottom


def test_what_is_drawn_is_where_it_was_placed(opened: Any):
    page = opened(whole("siamese"), closed=())
    expected = places(page)["boxes"]
    corner = page.locator("#picture").bounding_box()
    for name, rect in expected.items():
        drawn = box(page, name).locator(".line").first.bounding_box()
        assert drawn["x"] - corner["x"] == pytest.approx(rect.x, abs=2)
        assert drawn["y"] - corner["y"] == pytest.approx(rect.y, abs=2)
        assert drawn["width"] == pytest.approx(rect.width, abs=3)


def test_texts_stay_in_their_boxes(opened: Any):
    page = opened(whole("odd_names"))
    assert (
        page.evaluate(
            """() => [...document.querySelectorAll("g.box text")].filter((text) => {
            const [a, b] = [text, text.parentNode.querySelector(".line")]
                .map((element) => element.getBoundingClientRect());
            return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
        }).map((text) => text.textContent)"""
        )
        == []
    )


def test_turning_the_picture_is_the_other_layout(opened: Any):
    graph = whole("siamese")
    page = opened(graph, closed=())
    page.click("#turn")
    expected, _ = arrange(graph, PictureOptions(rankdir="LR"))
    assert largest_difference(places(page)["boxes"], dict(expected.boxes)) <= 1


# --- colours --------------------------------------------------------------------------------------


def hex_of(color: str) -> str:
    red, green, blue, *rest = re.findall(r"[\d.]+", color)
    assert not rest or float(rest[0]) == 1, color
    return f"#{int(red):02X}{int(green):02X}{int(blue):02X}"


def every_kind_and_state() -> Graph:
    nodes = [GraphNode("start", "start", "input", depth=1)]
    nodes += [
        GraphNode(kind, kind, kind, "m" if i % 2 else "", 0,
                  {"class_name": "Class", "calls": 2, "call": 0, "input_count": 2})
        for i, kind in enumerate(STYLES)
    ]  # fmt: skip
    nodes += [GraphNode(f"is {name}", name, "dense", attrs={"state": name}) for name in STATES]
    looks = [{"role": role} for role in ("gradient", "update")]
    looks += [{"state": name} for name in STATES]
    edges = [GraphEdge("start", "dense", "label", look) for look in looks]
    groups = (GraphGroup("m", "model", attrs={"class_name": "Model"}), GraphGroup("e", "shut"))
    nodes.append(GraphNode("hidden", "hidden", "dense", "e"))
    return Graph("kinds", tuple(nodes), tuple(edges), groups)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rendered_colours_can_be_read(opened: Any, scheme: str):
    picture = {"depth_ranks": True}
    page = opened(every_kind_and_state(), closed=["e"], picture=picture, color_scheme=scheme)
    page.fill("#search", "dense")
    box(page, "start").click()
    found = page.evaluate(COLOURS)
    assert len(found["text"]) > 100
    assert len(found["line"]) > 100
    for color, ground, what in found["text"]:
        assert contrast(hex_of(color), hex_of(ground)) >= 4.5, (what, color, ground)
    for color, ground, what in found["line"]:
        assert contrast(hex_of(color), hex_of(ground)) >= 3, (what, color, ground)


# --- size -----------------------------------------------------------------------------------------


def tower(count: int) -> Graph:
    attrs = {"class_name": "Dense", "output_shapes": "(None, 16)", "parameters": 272}
    names = [f"dense_{number}" for number in range(count)]
    nodes = [
        GraphNode(name, name, "dense", "", count - number, attrs)
        for number, name in enumerate(names)
    ]
    edges = [GraphEdge(one, other) for one, other in pairwise(names)]
    return with_blocks(Graph("tower", tuple(nodes), tuple(edges)))


@pytest.mark.parametrize("count", [2500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_open_closed_and_are_searched(opened: Any, count: int):
    """More than so many that a search waits until nobody types."""
    page = opened(tower(count))
    shown = places(page)["boxes"]
    assert 1 < len(shown) <= 60
    wanted = f"dense_{count * 7 // 9}"
    assert wanted not in shown
    page.fill("#search", wanted)
    page.locator("#count", has_text="1 of").wait_for()
    assert wanted in places(page)["boxes"]

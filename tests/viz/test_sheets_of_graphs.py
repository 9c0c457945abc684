"""PDF, PNG and TikZ of graphs: what the layout and the style sheet of the SVG say is drawn."""

import re

import numpy as np
import pytest
from browser import browser
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.to_svg import graph_sheet
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import Path, Placed, Rect, arrange
from kerascope.viz.layout.ladder import is_ladder, layout_of
from kerascope.viz.sheet import Label, Line, Polygon, Rectangle, Rules, plain_sheet
from kerascope.viz.writers.printed import render_sheet
from kerascope.viz.writers.tikz import tex

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
LEVELS = ("node", "op", "gradient", "training")


def small_sheet():
    options = PictureOptions()
    return graph_sheet(SMALL, options, PLACED, layout_of(SMALL, options)[1])


def ends(mark):
    """Return the left, upper, right and lower end of an outline."""
    across, along = zip(*mark.points, strict=True)
    return min(across), min(along), max(across), max(along)


def outlines(sheet):
    """Return where the outlines of a sheet lie, to a hundredth."""
    marks = plain_sheet(sheet, "light").marks
    return {tuple(round(x, 2) for x in ends(one)) for one in marks if isinstance(one, Polygon)}


def around(rect):
    return tuple(round(x, 2) for x in (rect.x, rect.y, rect.right, rect.bottom))


def test_everything_lies_where_the_layout_says():
    marks = plain_sheet(small_sheet(), "light").marks
    rects = [*PLACED.boxes.values(), *PLACED.frames.values()]
    assert {around(rect) for rect in rects} <= outlines(small_sheet())
    (arrow,) = [one for one in marks if isinstance(one, Line) and one.curved]
    assert arrow.points == PLACED.paths[0].points
    head = marks[marks.index(arrow) + 1]
    assert ends(head) == pytest.approx((110 - 3.4, 192.4, 110 + 3.4, 200.4))
    assert [one.text for one in marks if isinstance(one, Label)].count("depth 1") == 1


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_box_and_arrow_of_the_zoo_is_drawn_as_our_layout_says(name, rankdir):
    graph = graph_of(ZOO[name](), expand_nested=True)
    options = PictureOptions(rankdir=rankdir, depth_ranks=True)
    placed, measures = arrange(graph, options)
    sheet = graph_sheet(graph, options, placed, measures)
    square = [
        tuple(round(x, 2) for x in ends(one))
        for one in plain_sheet(sheet, "light").marks
        if isinstance(one, (Polygon, Rectangle))
    ]
    for rect in (*placed.boxes.values(), *placed.frames.values()):
        assert around(rect) in square
    curves = [
        one for one in plain_sheet(sheet, "light").marks if isinstance(one, Line) and one.curved
    ]
    assert [one.points for one in curves] == [path.points for path in placed.paths]


@pytest.mark.parametrize("level", LEVELS)
def test_tikz_has_every_word_of_a_graph(level):
    model = ZOO["siamese"]()
    model.compile("rmsprop", "mse")
    drawing = ks.draw(model, level=level)
    tikz = drawing.tikz
    assert tikz.count("{") == tikz.count("}")
    words = [
        one.text for one in plain_sheet(drawing.sheet, "light").marks if isinstance(one, Label)
    ]
    nodes = re.findall(r"^  \\node\[.*?\}\] at \(\S+\) \{(.*)\};$", tikz, re.M)
    assert nodes == [tex(word) for word in words]
    assert tikz.count(r"\path[") >= len(drawing.layout.boxes) + len(drawing.layout.frames)
    assert ".. controls" in tikz


def test_pictures_of_numbers_are_tikz_unless_they_have_images():
    history = ks.show(np.eye(3)).tikz
    assert history.count(r"\node") > 9
    with pytest.raises(ks.errors.ArgumentError, match=r"contains images of arrays.*\.pdf"):
        _ = ks.show(np.arange(4000.0).reshape(40, 100)).tikz


def test_png_and_pdf_have_the_size_of_the_layout():
    pdf = render_sheet(small_sheet(), "pdf", dpi=96)
    assert b"/MediaBox [ 0 0 200.0000 300.0000 ]" in pdf or pdf.startswith(b"%PDF")
    for dpi, size in ((72, (200, 300)), (96, (267, 400))):
        png = render_sheet(small_sheet(), "png", dpi=dpi)
        assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == size


@pytest.mark.parametrize("count", [1200, pytest.param(3000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_need_no_dot(count):
    nodes = tuple(GraphNode(f"b{i}", f"b{i}", "dense", "", count - i) for i in range(count))
    edges = tuple(GraphEdge(f"b{i}", f"b{i + 1}") for i in range(count - 1))
    graph, options = Graph("big", nodes, edges), PictureOptions()
    assert render_sheet(graph_sheet(graph, options, *arrange(graph, options)), "pdf", dpi=72)


def test_graphviz_has_nothing_to_say_of_closed_frames(capfd, tmp_path):
    inputs = ks.Input((7,))
    embedded = ks.layers.Embedding(50, 8, mask_zero=True)(inputs)
    read = ks.layers.Bidirectional(ks.layers.LSTM(6, return_sequences=True))(embedded)
    told = ks.layers.TimeDistributed(ks.layers.Dense(5))(read)
    ks.draw(ks.Model(inputs, ks.layers.GRU(4)(told)), level="op", to=tmp_path / "op.png")
    assert "too small" not in capfd.readouterr().err


@pytest.mark.parametrize("format", ["png", "pdf"])
@pytest.mark.parametrize("level", ["gradient", "training"])
def test_graphviz_draws_ladders_with_numbers_to_their_end(level, format, capfd, tmp_path):
    x = ks.Input((3,), name="x")
    model = ks.Model(x, ks.layers.Dense(2, name="scores")(x))
    model.compile("adam", "mse")
    drawing = ks.draw(model, level=level, gradients=(np.ones((2, 3)), np.zeros((2, 2))))
    sheet = plain_sheet(drawing.sheet, "light")
    assert all(mark.text for mark in sheet.marks if isinstance(mark, Label))
    drawing.save(tmp_path / f"ladder.{format}")
    assert "rror" not in capfd.readouterr().err


def test_the_label_of_an_arrow_lies_on_a_ground_above_the_arrows():
    marks = plain_sheet(small_sheet(), "light").marks
    place = next(i for i, one in enumerate(marks) if isinstance(one, Label) and one.text == "x2")
    assert ends(marks[place - 1]) == (70, 100, 90, 110)
    assert marks[place - 1].fill == "#FFFFFF"
    assert not [one for one in marks[place:] if isinstance(one, Line) and one.curved]


# --- a browser has the last word on what the rules say --------------------------------------------

STYLES = """() => [...document.querySelectorAll("svg :is(text, rect, path)")]
  .filter((one) => !one.closest("marker"))
  .map((one) => {
    const style = getComputedStyle(one), around = [];
    for (let at = one; at.tagName; at = at.parentNode)
      if (at.getAttribute("class")) around.unshift(at.getAttribute("class"));
    return [one.tagName, around.slice(-3), style.fill, style.stroke, style.strokeWidth,
      style.strokeDasharray, style.fontSize, style.fontWeight, !!one.closest(".asked")];
  })"""


def hexadecimal(color):
    if color == "none":
        return ""
    return "#" + "".join(f"{int(x):02X}" for x in re.findall(r"\d+", color)[:3])


def styled_drawings():
    model = ZOO["siamese"]()
    model.compile("rmsprop", "mse")
    yield ks.draw(model, level="training", theme="light")
    yield ks.draw(model, expand_nested=True, depth_ranks=True, theme="dark")
    x, y = np.ones((2, 16)), np.ones((2, 1))
    yield ks.draw(model, gradients=([x, x], y), theme="light")
    yield ks.draw(ZOO["several_ends"](), diff=ZOO["many_branches"](), highlight="*a*")


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.mark.slow
@pytest.mark.browser
def test_rules_give_marks_the_colours_lines_and_letters_that_a_browser_gives(chromium):
    page = chromium.tab(color_scheme="light")
    for drawing in styled_drawings():
        sheet = drawing.sheet
        rules = Rules(sheet.inks)
        labels = iter(one for one in plain_sheet(sheet, "light").marks if isinstance(one, Label))
        page.set_content(drawing.svg)
        for tag, around, *style, size, weight, hidden in page.evaluate(STYLES):
            fill, line, width, dashes = style
            ink = rules.ink(tuple(around))
            if tag == "text" and not hidden:
                label = next(labels)
                assert label.color == hexadecimal(fill), label
                if len(around) > 2 and not is_ladder(drawing.graph):  # in a box
                    assert label.size == float(size[:-2]), label
                assert label.bold is (weight == "700"), label
            elif tag != "text":
                assert (ink.fill or "none", ink.line) == (
                    hexadecimal(fill) or "none", hexadecimal(line)
                ), around  # fmt: skip
                if ink.line:
                    assert float(ink.line_width or 1) == float(width[:-2]), around
                    assert ink.dashes.split() == re.findall(r"\d+", dashes)
    chromium.take_back(page, color_scheme="light")


@pytest.mark.parametrize("level", LEVELS)
def test_signs_of_boxes_are_written_for_any_latex(level):
    model = ZOO["siamese"]()
    model.compile("rmsprop", "mse")
    drawing = ks.draw(model, level=level, highlight="*")
    assert drawing.tikz.isascii()
    assert drawing.tikz.startswith("% Its signs need \\usepackage{amssymb}.\n\\begin{tikzpicture}")
    assert "\\usepackage{amssymb}" in drawing.tex

"""Long pictures are set in columns: nothing is lost, nothing lies on anything else."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from graph_strategies import graphs
from holding import holds_for
from hypothesis import strategies as st

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.layers import LSTM, Add, Dense, Input
from kerascope.models import Model, Sequential
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.arrange import Path, Rect, arrange
from kerascope.viz.layout.columns import in_columns
from tests.viz.layout.test_arrange import assert_well_placed
from tests.zoo import THINNED_ZOO, ZOO, resnet50


def chain(length: int = 12) -> Model:
    layers = [Dense(8, input_shape=(8,)), *(Dense(8) for _ in range(length - 2))]
    return Sequential(layers, name="deep")


def blocks(count: int = 6) -> Model:
    x = y = Input((8,), name="x")
    for _ in range(count):
        y = Add()([Dense(8)(Dense(8)(y)), y])
    return Model(x, Add()([y, x]), name="blocks")


def columns_of(placed) -> list[list[Rect]]:
    """Return the boxes by columns: boxes that have nothing across in common are in others."""
    columns: list[list[Rect]] = []
    for rect in sorted(placed.boxes.values(), key=lambda rect: (rect.x, rect.y)):
        if columns and rect.x < max(one.right for one in columns[-1]):
            columns[-1].append(rect)
        else:
            columns.append([rect])
    return columns


def assert_is_one_line(path) -> None:
    """An arrow of straight lines and curves goes on where it was, and turns back nowhere."""
    points = path.points
    assert len(points) % 3 == 1
    assert all(one != other for one, other in pairwise(points[::3]))
    for (x0, y0), (x1, y1), (x2, y2) in zip(points[2::3], points[3::3], points[4::3], strict=False):
        assert (x1 - x0) * (x2 - x1) + (y1 - y0) * (y2 - y1) >= -0.01


@holds_for(
    graphs(most_nodes=20), st.integers(2, 5), st.sampled_from(["TB", "LR"]), few=25, many=300
)
def test_random_graphs_in_columns_have_no_box_on_another_and_no_arrow_through_a_box(
    graph, wrap, rankdir
):
    options = PictureOptions(rankdir=rankdir, depth_ranks=True)
    before, _ = arrange(graph, options)
    placed = in_columns(before, graph, wrap, rankdir == "LR")
    assert_well_placed(graph, placed)
    assert set(placed.frames) == set(before.frames)
    assert set(placed.depths) == set(before.depths)
    for path in placed.paths:
        assert_is_one_line(path)


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_models_in_columns_are_well_placed(name):
    graph = ks.draw(ZOO[name](), expand="all").graph
    for rankdir in ("TB", "LR"):
        before, _ = arrange(graph, PictureOptions(rankdir=rankdir))
        for wrap in (True, 2, 3):
            assert_well_placed(graph, in_columns(before, graph, wrap, rankdir == "LR"))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 12])
def test_a_chain_has_as_many_columns_as_were_asked_and_they_are_about_equally_high(number):
    found = columns_of(ks.draw(chain(), wrap=number).layout)
    assert len(found) == number
    lengths = [len(column) for column in found]
    assert sum(lengths) == 12
    assert max(lengths) - min(lengths) <= 1
    assert len({min(rect.y for rect in column) for column in found[1:]}) <= 1


def test_there_are_not_more_columns_than_rows():
    assert len(columns_of(ks.draw(chain(3), wrap=40).layout)) == 3


@pytest.mark.parametrize("make", [lambda: chain(40), lambda: blocks(12), resnet50])
@pytest.mark.parametrize("rankdir", ["TB", "LR"])
def test_true_comes_near_to_a_page(make, rankdir):
    placed = ks.draw(make(), wrap=True, rankdir=rankdir).layout
    assert 0.7 < placed.width / placed.height < 2.6


def test_a_picture_that_is_wide_already_is_left_as_it_is():
    x = Input((4,))
    wide = Model(x, [Dense(2)(x) for _ in range(8)])
    assert ks.draw(wide, wrap=True).layout == ks.draw(wide).layout


def test_arrows_over_a_cut_do_not_cross_more_than_before():
    placed = ks.draw(blocks(), wrap=3).layout
    before = ks.draw(blocks()).layout
    assert len(placed.paths) == len(before.paths)
    for path in placed.paths:
        assert_is_one_line(path)


@pytest.mark.parametrize("by", [0.0, 0.01, -0.05])
def test_an_arrow_that_is_straight_but_for_a_rounding_goes_through_every_column(by):
    """So it is where it comes out of frames: each frame's places are rounded for themselves."""
    rows = [GraphNode(name, name, "dense", depth=3 - row) for row, name in enumerate("abcd")]
    graph = Graph("rows", tuple(rows), (GraphEdge("a", "d"),))
    before, _ = arrange(graph, PictureOptions())
    start, one, other, end = before.paths[0].points
    bent = Path((start, one, (other[0] + by, other[1]), (end[0] + by, end[1])))
    placed = in_columns(replace(before, paths=(bent,)), graph, 4, False)
    assert len(columns_of(placed)) == 4
    assert_well_placed(graph, placed)
    assert_is_one_line(placed.paths[0])


def test_an_arrow_that_goes_back_up_goes_through_its_columns_backwards():
    x = Input((3, 4))
    drawing = ks.draw(ks.draw(Model(x, LSTM(2)(x)), level="op").graph, wrap=3)
    assert_well_placed(drawing.graph, drawing.layout)


def test_it_is_in_svg_png_and_pdf_and_the_graph_is_the_same():
    model = chain()
    plain, wrapped = ks.draw(model), ks.draw(model, wrap=3)
    assert plain.json == wrapped.json
    assert wrapped.layout.height < plain.layout.height / 2
    assert f'height="{wrapped.layout.height:g}"' in wrapped.svg
    png, flat = wrapped.render("png"), plain.render("png")
    sizes = [np.frombuffer(one[16:24], ">u4") for one in (png, flat)]
    assert sizes[0][0] > sizes[1][0]
    assert sizes[0][1] < sizes[1][1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wrap": -1}, "expected True or 1 to"),
        ({"wrap": 2.5}, "expected True or 1 to"),
        ({"wrap": "3"}, "expected True or 1 to"),
        ({"wrap": 10_000}, "1 to 40"),
        ({"wrap": 2, "engine": "dot"}, "engine='dot'"),
        ({"wrap": 2, "style": "figure"}, "style='figure'"),
        ({"wrap": 2, "level": "training"}, "two columns already"),
    ],
)
def test_what_cannot_be_set_in_columns_is_refused_with_words(options, words):
    model = chain(3)
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="wrap.*" + words):
        ks.draw(model, **options)

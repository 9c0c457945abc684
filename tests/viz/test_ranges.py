import random

import networkx
import pytest
from effort import growth
from graph_strategies import graphs as any_graphs
from holding import holds_for
from hypothesis import strategies as st
from random_graphs import graph_of
from zoo import ZOO

from kerascope.engine.model import Model
from kerascope.layers import Bidirectional, Dense, Input, SimpleRNN
from kerascope.viz.collapse.blocks import classes_name, with_blocks
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.collapse.view import closed_by_default, closed_for
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.subjects import graph_of as extracted
from kerascope.viz.graph import Graph
from kerascope.viz.nesting import levels_of


def chain_with_skips(size, reach, seed=1):
    """Boxes of five classes in no order, each fed by the one before and by another one."""
    chance = random.Random(seed)
    classes = [
        "InputLayer",
        *(chance.choice(["Dense", "ReLU", "Add", "A", "B"]) for _ in range(size)),
    ]
    arrows = [(i - 1, i) for i in range(1, size + 1)]
    arrows += [(chance.randrange(max(0, i - reach), i - 1), i) for i in range(3, size + 1)]
    return graph_of(classes, arrows)


def default_view(graph):
    found = with_blocks(graph)
    return found, collapsed(found, closed_by_default(found))


def assert_flows_down(graph):
    for level in levels_of(graph).values():
        pairs = [(link.source, link.target) for link in level.flow()]
        assert networkx.is_directed_acyclic_graph(networkx.DiGraph(pairs))


# --- what holds for any graph ---------------------------------------------------------------------


@holds_for(any_graphs(), st.integers(0, 30), st.data(), few=40, many=200)
def test_any_graph_at_all_can_be_framed_and_closed(graph, most, data):
    found = with_blocks(graph, most)
    assert [(n.id, n.label, n.kind, n.attrs) for n in found.nodes] == [
        (n.id, n.label, n.kind, n.attrs) for n in graph.nodes
    ]
    assert found.edges == graph.edges
    assert {group.id for group in graph.groups} <= {group.id for group in found.groups}
    Graph(found.name, found.nodes, found.edges, found.groups, found.attrs)  # every check
    names = [group.id for group in found.groups]
    chosen = data.draw(st.sets(st.sampled_from(names))) if names else set()
    for closed in (closed_by_default(found, most), frozenset(names), chosen):
        small = collapsed(found, closed)
        Graph(small.name, small.nodes, small.edges, small.groups, small.attrs)
        held = sum(int(node.attrs.get("members", 1)) for node in small.nodes)
        assert held == len(graph.nodes)


@pytest.mark.parametrize("name", ["bidirectional", "wrapped_twice", "stacked_cells"])
def test_ops_with_loops_can_be_framed(name):
    graph = extracted(ZOO[name](), "op")
    assert any(edge.attrs.get("role") == "update" for edge in graph.edges)
    found, small = default_view(graph)
    assert found.edges == graph.edges
    assert 0 < len(small.nodes) <= 100


# --- ranges of rows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "reach"),
    [
        (130, 5),
        (500, 400),
        (1200, 30),
        (1200, 1160),
        pytest.param(3000, 30, marks=pytest.mark.slow),
        pytest.param(3000, 2900, marks=pytest.mark.slow),
    ],
)
def test_what_does_not_repeat_comes_down_to_what_can_be_read(size, reach):
    found, small = default_view(chain_with_skips(size, reach))
    assert len(small.nodes) <= 100
    assert_flows_down(found)
    assert_flows_down(small)


def test_an_open_range_shows_ranges_again():
    found, small = default_view(chain_with_skips(1500, 900))
    largest = max(small.nodes, key=lambda node: node.attrs.get("members", 0))
    while largest.attrs.get("members", 0) > 100:
        opened = collapsed(found, closed_for(found, largest.id))
        inside = [node for node in opened.nodes if node.group == largest.id]
        assert 1 < len(inside) <= 100
        largest = max(inside, key=lambda node: node.attrs.get("members", 0))


def test_a_range_says_how_many_boxes_of_how_many_rows():
    _, small = default_view(chain_with_skips(900, 700))
    closed = [node for node in small.nodes if "members" in node.attrs]
    assert closed
    for node in closed:
        rows = node.attrs["detail"].removeprefix(f"{node.attrs['members']:,} boxes of ")
        assert rows in (f"{count} row{'s' * (count > 1)}" for count in range(1, 2000))
        assert "copies" not in node.attrs
    assert all(0 <= node.attrs["depth_last"] <= 2000 for node in closed)


def test_a_large_frame_of_copies_opens_to_ranges():
    classes = ["InputLayer", *["Dense"] * 3000]
    found = with_blocks(graph_of(classes, [(i, i + 1) for i in range(3000)]))
    (copies,) = [group for group in found.groups if group.attrs["kind"] == "copies"]
    opened = collapsed(found, closed_for(found, copies.id))
    assert len([node for node in opened.nodes if node.group == copies.id]) <= 100


def test_equal_branches_are_one_box():
    classes = ["InputLayer", "Dense", *["Dense", "ReLU"] * 500, "Add"]
    arrows = [(0, 1)]
    for i in range(2, 1002, 2):
        arrows += [(1, i), (i, i + 1), (i + 1, 1002)]
    found, small = default_view(graph_of(classes, arrows))
    assert [node.label for node in small.nodes] == ["n0", "n1", "500 branches", "n1002"]
    attrs = small.nodes[2].attrs
    assert (attrs["branches"], attrs["members"], attrs["detail"]) == (500, 1000, "Dense, ReLU")
    assert_flows_down(found)


def test_a_long_name_of_classes_has_one_ellipsis():
    boxes = graph_of(["Conv2D", *["BatchNormalization"] * 3, "MaxPooling2D"], []).nodes
    assert classes_name(boxes) == "Conv2D … MaxPooling2D (5 boxes)"
    assert classes_name(boxes[1:4]) == "BatchNormalization … BatchNormalization (3 boxes)"


# --- outputs of calls -----------------------------------------------------------------------------


def outputs_of(model, name):
    small = collapsed(node_graph(model, expand_nested=True), [name])
    return {edge.target: edge.attrs["output"] for edge in small.edges if edge.source == name}


def test_outputs_of_one_shape_used_in_another_order_keep_their_numbers():
    x = Input(shape=(6,), name="x")
    pair = Model(x, [Dense(2, name="first")(x), Dense(2, name="second")(x)], name="pair")
    first, second = pair(x)
    whole = Model(x, [Dense(1, name="late")(second), Dense(1, name="early")(first)])
    assert outputs_of(whole, "pair") == {"late": 1, "early": 0}


def test_outputs_through_two_calls_keep_their_numbers():
    x = Input(shape=(6,), name="x")
    pair = Model(x, [Dense(2, name="first")(x), Dense(2, name="second")(x)], name="pair")
    swapped = Model(x, pair(x)[::-1], name="swapped")
    one, other = swapped(x)
    whole = Model(x, [Dense(1, name="late")(other), Dense(1, name="early")(one)])
    assert outputs_of(whole, "swapped") == {"late": 1, "early": 0}
    assert outputs_of(whole, "swapped/pair") == {"late": 0, "early": 1}


def test_outputs_of_a_wrapper_keep_their_numbers():
    x = Input(shape=(3, 4), name="x")
    both = Bidirectional(SimpleRNN(2), merge_mode=None, name="both")(x)
    whole = Model(x, [Dense(1, name="late")(both[1]), Dense(1, name="early")(both[0])])
    assert outputs_of(whole, "both") == {"late": 1, "early": 0}


def side_by_side(size):
    """An input, many boxes that read it, and their sum."""
    arrows = [(0, i) for i in range(1, size + 1)] + [(i, size + 1) for i in range(1, size + 1)]
    return graph_of(["InputLayer", *["Dense"] * size, "Add"], arrows)


LARGE = {
    "skips": lambda size: chain_with_skips(size, size * 9 // 10),
    "side by side": side_by_side,
}


@pytest.mark.parametrize("form", LARGE)
@pytest.mark.parametrize("size", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_come_down_to_what_can_be_read(size, form):
    _, small = default_view(LARGE[form](size))
    assert 1 < len(small.nodes) <= 100


@pytest.mark.parametrize("form", LARGE)
def test_the_work_is_not_the_square_of_the_boxes(form):
    graphs = {size: LARGE[form](size) for size in (200, 800)}
    assert growth(lambda size: default_view(graphs[size]), 200, times=4) < 7  # a square: 16

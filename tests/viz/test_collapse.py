from dataclasses import replace
from functools import partial

import networkx
import numpy as np
import pytest
from holding import holds_for
from hypothesis import strategies as st
from random_graphs import arrow, box, graph_of, graphs
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.applications import (
    VGG16,
    DenseNet121,
    InceptionV3,
    MobileNet,
    MobileNetV2,
    ResNet50,
    Xception,
)
from kerascope.engine.model import Model
from kerascope.errors import ArgumentError
from kerascope.layers import Add, Dense, Input
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.collapse.view import closed_by_default, closed_for
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.nesting import levels_of


def calls(graph):
    return [group.id for group in graph.groups if group.attrs.get("kind", "call") == "call"]


# --- what holds for any graph ---------------------------------------------------------------------


@holds_for(graphs(), st.data(), few=30, many=150)
def test_arrows_are_those_whose_ends_lie_in_different_boxes(graph, data):
    graph = with_blocks(graph, most=5)
    names = [group.id for group in graph.groups]
    closed = data.draw(st.sets(st.sampled_from(names))) if names else set()
    small = collapsed(graph, closed)

    parent = {group.id: group.parent for group in graph.groups}
    shown = {}
    for node in graph.nodes:
        shown[node.id], group = node.id, node.group
        while group:
            shown[node.id] = group if group in closed else shown[node.id]
            group = parent[group]
    expected = {
        (shown[e.source], shown[e.target])
        for e in graph.edges
        if shown[e.source] != shown[e.target]
    }
    assert {(edge.source, edge.target) for edge in small.edges} == expected
    assert [node.id for node in small.nodes] == [*dict.fromkeys(shown.values())]
    stands_for = sum(int(edge.attrs.get("connections", 1)) for edge in small.edges)
    crossing = [e for e in graph.edges if shown[e.source] != shown[e.target]]
    assert stands_for == len(crossing)
    assert sum(int(node.attrs.get("members", 1)) for node in small.nodes) == len(graph.nodes)
    for level in levels_of(small).values():
        arrows = [(link.source, link.target) for link in level.links]
        assert networkx.is_directed_acyclic_graph(networkx.DiGraph(arrows))


@holds_for(graphs(), st.integers(1, 20), few=25, many=100)
def test_operands_and_outputs_of_a_closed_box_are_counted_from_zero(graph, most):
    graph = with_blocks(graph, most=most)
    small = collapsed(graph, [group.id for group in graph.groups])
    for node in small.nodes:
        if "members" in node.attrs:
            operands = {e.attrs["operand"] for e in small.edges if e.target == node.id}
            outputs = {e.attrs["output"] for e in small.edges if e.source == node.id}
            assert operands == set(range(node.attrs["input_count"]))
            assert outputs <= set(range(node.attrs["output_count"]))


# --- calls of nested models -----------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_closing_every_call_gives_the_graph_that_was_never_expanded(name):
    plain, whole = node_graph(ZOO[name]()), node_graph(ZOO[name](), expand_nested=True)
    closed = collapsed(whole, calls(whole))

    def comparable(graph):  # only an unexpanded wrapper says what it is wrapped around
        extra = ("members", "detail")
        attrs = [{k: v for k, v in node.attrs.items() if k not in extra} for node in graph.nodes]
        pairs = zip(graph.nodes, attrs, strict=True)
        return replace(graph, nodes=tuple(replace(node, attrs=own) for node, own in pairs))

    assert comparable(closed) == comparable(plain)


def test_operands_of_a_closed_call_are_those_of_the_call():
    a, b = Input(shape=(2,), name="a"), Input(shape=(2,), name="b")
    inner = Model([a, b], Add()([Dense(2)(b), a]), name="inner")
    x, y = Input(shape=(2,), name="x"), Input(shape=(2,), name="y")
    graph = node_graph(Model([x, y], inner([y, x])), expand_nested=True)
    small = collapsed(graph, ["inner"])
    assert {e.source: e.attrs["operand"] for e in small.edges} == {"y": 0, "x": 1}


def test_outputs_of_a_closed_call_are_told_by_their_shapes():
    x = Input(shape=(6,), name="x")
    split = Model(x, [Dense(2, name="two")(x), Dense(3, name="three")(x)], name="split")
    two, three = split(x)
    whole = Model(x, [Dense(1, name="late")(three), Dense(1, name="early")(two)])
    small = collapsed(node_graph(whole, expand_nested=True), ["split"])
    outputs = {e.target: e.attrs["output"] for e in small.edges if e.source == "split"}
    assert outputs == {"early": 0, "late": 1}


def test_a_constant_inside_two_calls_is_their_own_affair():
    offset = K.constant(np.ones((1, 2)), name="offset")
    x = Input(shape=(2,), name="x")
    inner = Model(x, Add(name="shift")([x, offset]), name="inner")
    outer = Model(x, inner(inner(x)))
    graph = node_graph(outer, expand_nested=True)
    small = collapsed(graph, calls(graph))
    assert [(e.source, e.target) for e in small.edges] == [("x", "inner@0"), ("inner@0", "inner@1")]


def test_a_constant_that_is_used_outside_stays_visible():
    offset = K.constant(np.ones((1, 2)), name="offset")
    x = Input(shape=(2,), name="x")
    inner = Model(x, Add(name="shift")([x, offset]), name="inner")
    graph = node_graph(Model(x, inner(Add(name="before")([x, offset]))), expand_nested=True)
    small = collapsed(graph, ["inner"])
    assert ("offset", "before") in [(edge.source, edge.target) for edge in small.edges]
    assert small.node("offset").group == ""
    assert small.node("offset").depth > small.node("before").depth


# --- blocks ---------------------------------------------------------------------------------------


def skip_blocks():
    """x, then twice Dense, ReLU and an Add around both."""
    classes = ["InputLayer", *["Dense", "ReLU", "Add"] * 2, "Dense"]
    arrows = [(i, i + 1) for i in range(7)] + [(0, 3), (3, 6)]
    graph = graph_of(classes, arrows)
    nodes = tuple(
        replace(node, attrs={**node.attrs, "parameters": 20 * (node.kind == "dense")})
        for node in graph.nodes
    )
    return with_blocks(replace(graph, nodes=nodes), most=3)


def test_one_tensor_that_enters_a_block_twice_is_one_arrow():
    small = collapsed(skip_blocks(), ["n3_block"])
    (edge,) = [edge for edge in small.edges if edge.target == "n3_block"]
    assert (edge.source, edge.attrs["connections"], edge.attrs["operand"]) == ("n0", 2, 0)
    (after, skip) = [edge for edge in small.edges if edge.source == "n3_block"]
    assert (after.target, skip.target) == ("n4", "n6")


def test_a_closed_box_says_what_it_hides():
    small = collapsed(skip_blocks(), ["n3_block..n6_block"])
    attrs = small.node("n3_block..n6_block").attrs
    assert (attrs["members"], attrs["parameters"], attrs["copies"]) == (6, 40, 2)
    assert (attrs["input_count"], attrs["output_count"]) == (1, 1)
    assert attrs["output_shapes"] == "(None, 4)"
    assert small.attrs["caption"] == "1 closed frame holds 6 boxes"
    assert small.node("n3_block..n6_block").kind == "block"


def test_only_the_outermost_closed_frame_is_seen():
    small = collapsed(skip_blocks(), ["n3_block", "n3_block..n6_block"])
    assert [node.id for node in small.nodes] == ["n0", "n3_block..n6_block", "n7"]
    assert small.groups == ()


def test_a_hidden_output_is_written_on_the_box():
    x = Input(shape=(4,), name="x")
    inner = Model(x, Dense(2, name="last")(x), name="inner")
    small = collapsed(node_graph(Model(x, inner(x)), expand_nested=True), ["inner"])
    assert small.node("inner").attrs["outputs"] == "output"


def test_empty_frames_disappear():
    graph = Graph("g", (box("a", "Dense", 0),), (), (GraphGroup("e", "e"), GraphGroup("f", "f")))
    assert collapsed(graph, ["e"]).groups == ()
    assert [node.id for node in collapsed(graph, ["e"]).nodes] == ["a"]


def test_shared_weights_point_at_a_box_that_is_seen():
    boxes = (
        replace(box("a", "Dense", 2, parameters=20), group="g"),
        box("b", "ReLU", 1),
        box("c", "Dense", 0, shared_with="a"),
    )
    graph = Graph("g", boxes, (arrow("a", "b"), arrow("b", "c")), (GraphGroup("g", "g"),))
    assert collapsed(graph, ["g"]).node("c").attrs["shared_with"] == "g"


def test_an_unknown_frame_is_refused():
    with pytest.raises(ArgumentError, match=r"no frame 'n3_blok'.*Did you mean 'n3_block'"):
        collapsed(skip_blocks(), ["n3_blok"])


# --- which are closed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("architecture", "most"),
    [
        (ResNet50, 20),
        (InceptionV3, 60),
        (MobileNet, 60),
        (MobileNetV2, 60),
        (DenseNet121, 30),
        (partial(VGG16, include_top=False), 60),
        pytest.param(VGG16, 60, marks=pytest.mark.slow),  # 138 million weights
        (Xception, 60),
    ],
)
def test_known_architectures_are_readable(architecture, most):
    whole = node_graph(architecture(weights=None), expand_nested=True)
    graph = with_blocks(whole)
    small = collapsed(graph, closed_by_default(graph))
    assert len(small.nodes) <= most
    parameters = [sum(node.attrs["parameters"] for node in one.nodes) for one in (whole, small)]
    assert parameters[0] == parameters[1]


def test_a_small_graph_keeps_everything_but_nested_models_open():
    graph = with_blocks(node_graph(ZOO["siamese"](), expand_nested=True))
    assert closed_by_default(graph) == {"encoder@0", "encoder@1"}
    assert closed_by_default(skip_blocks()) == frozenset()


def test_the_last_step_hides_no_more_than_it_must():
    groups = tuple(GraphGroup(name, name, attrs={"kind": "scope"}) for name in ("big", "small"))
    sizes = {"big": 50, "small": 5}
    boxes = tuple(
        replace(box(f"{name}/{i}", "Dense", 0), group=name)
        for name, size in sizes.items()
        for i in range(size)
    )
    assert closed_by_default(Graph("g", boxes, (), groups), most=52) == {"small"}
    assert closed_by_default(Graph("g", boxes, (), groups), most=20) == {"big"}
    assert closed_by_default(Graph("g", boxes, (), groups), most=2) == {"big", "small"}


def scopes_of(*held):
    """Return a graph of scopes, named by their places: "1.0" lies in "1"; and what each holds."""
    boxes, groups = [], []
    for name, classes in held:
        outer = name.rpartition(".")[0]
        groups.append(GraphGroup(name, name, outer, attrs={"kind": "scope"}))
        boxes += [
            GraphNode(f"{name}/{n}", f"{name}/{n}", "layer", name, attrs={"class_name": one})
            for n, one in enumerate(classes)
        ]
    return Graph("g", tuple(boxes), (), tuple(groups))


@pytest.mark.parametrize("most", range(1, 60))
def test_equal_twins_are_closed_together_or_open_together(most):
    plain, wide = ["Conv", "Norm", "Relu"], ["Conv", "Norm", "Relu", "Conv"]
    graph = scopes_of(
        ("0", []), ("0.0", plain), ("0.1", plain), ("1", []), ("1.0", wide), ("1.1", plain),
        ("2", []), ("2.0", wide), ("2.1", plain), ("head", ["Dense", "Softmax"]),
    )  # fmt: skip
    closed = closed_by_default(graph, most)
    around = {group.id: group.parent for group in graph.groups}
    shown = {one for one in around if around[one] not in closed}
    for twins in (("0.0", "0.1", "1.1", "2.1"), ("1.0", "2.0"), ("1", "2")):
        assert len({one in closed for one in twins if one in shown}) <= 1
    if most >= len(graph.nodes):
        assert not closed


def test_a_name_opens_what_is_around_it_and_nothing_else():
    graph = skip_blocks()
    assert closed_for(graph, None, most=5) == {"n3_block..n6_block"}
    assert closed_for(graph, "n3_block", most=5) == {"n6_block"}
    assert closed_for(graph, "n5", most=5) == {"n3_block"}  # a box
    assert closed_for(graph, ["n3_block..n6_block"], most=5) == {"n3_block", "n6_block"}


def test_levels_all_and_a_function_decide():
    graph = skip_blocks()
    assert closed_for(graph, 0) == {group.id for group in graph.groups}
    assert closed_for(graph, 1) == {"n3_block", "n6_block"}
    assert closed_for(graph, "all") == closed_for(graph, True) == frozenset()
    assert closed_for(graph, lambda group: "copies" in group.attrs) == {"n3_block", "n6_block"}


@pytest.mark.parametrize(
    ("expand", "words"),
    [
        ("n3_blocks", "nothing in 'random' is called 'n3_blocks'. Did you mean 'n3_block'"),
        (["n3_block", "zzz"], "called 'zzz'. Use 'all' or one of"),
        (-1, "number of levels of 0 or more, got -1"),
        (2.5, "expected None, 'all', a name"),
    ],
)
def test_what_cannot_be_expanded_is_refused(expand, words):
    with pytest.raises(ArgumentError, match=words):
        closed_for(skip_blocks(), expand)


@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_chain_of_thousands_of_layers_is_two_boxes(count):
    classes = ["InputLayer", *["Dense"] * count]
    graph = with_blocks(graph_of(classes, [(i, i + 1) for i in range(count)]))
    small = collapsed(graph, closed_by_default(graph))
    assert [node.attrs.get("copies") for node in small.nodes] == [None, count]

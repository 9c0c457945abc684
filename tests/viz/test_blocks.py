import networkx
import pytest
from holding import holds_for
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import arrow, box, graph_of, graphs
from zoo import ZOO

import kerascope as ks
from kerascope import layers as L
from kerascope.applications import ResNet50, Xception
from kerascope.engine.model import Model
from kerascope.layers import Activation, Add, Dense, Input, LayerNormalization
from kerascope.viz.collapse.blocks import repeats, with_blocks
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.graph import Graph, GraphGroup
from kerascope.viz.nesting import levels_of


def kinds(graph):
    return {group.id: group.attrs["kind"] for group in graph.groups}


def held(graph, group):
    inner = [one.id for one in graph.groups if one.parent == group]
    direct = [node for node in graph.nodes if node.group == group]
    return direct + [node for one in inner for node in held(graph, one)]


def inside(graph, group):
    """Return a frame's boxes as a networkx graph that knows classes and operands, not names."""
    result = networkx.MultiDiGraph()
    for node in held(graph, group):
        facts = (node.kind, node.attrs["class_name"], node.attrs.get("output_shapes"))
        result.add_node(node.id, facts=facts)
    for edge in graph.edges:
        if edge.source in result and edge.target in result:
            key = edge.attrs["operand"], edge.attrs["output"]
            result.add_edge(edge.source, edge.target, ends=key)
    return result


def assert_isomorphic(one, other):
    assert networkx.is_isomorphic(
        one,
        other,
        node_match=lambda a, b: a["facts"] == b["facts"],
        edge_match=lambda a, b: (
            sorted(e["ends"] for e in a.values()) == sorted(e["ends"] for e in b.values())
        ),
    )


def assert_levels_go_down(graph):
    depth = {part.id: part.depth for part in (*graph.nodes, *graph.groups)}
    for level in levels_of(graph).values():
        arrows = [(link.source, link.target) for link in level.links]
        assert networkx.is_directed_acyclic_graph(networkx.DiGraph(arrows))
        assert all(depth[source] > depth[target] for source, target in arrows)


# --- what holds for any graph ---------------------------------------------------------------------


@holds_for(graphs(), st.integers(0, 30), few=30, many=150)
def test_every_box_and_arrow_is_still_there_and_every_level_goes_down(graph, most):
    found = with_blocks(graph, most)
    assert [(n.id, n.label, n.attrs) for n in found.nodes] == [
        (n.id, n.label, n.attrs) for n in graph.nodes
    ]
    assert found.edges == graph.edges
    assert_levels_go_down(found)
    assert all(held(found, group.id) for group in found.groups)
    assert with_blocks(graph, most) == found


@holds_for(graphs(), st.integers(0, 30), few=30, many=150)
def test_copies_are_isomorphic(graph, most):
    found = with_blocks(graph, most)
    for group in found.groups:
        if group.attrs["kind"] != "copies":
            continue
        blocks, waiting = [], [group.id]
        while waiting:  # many copies lie in ranges
            around = waiting.pop()
            for one in found.groups:
                if one.parent == around:
                    (waiting if one.attrs["kind"] == "rows" else blocks).append(one.id)
        if not blocks:
            boxes = held(found, group.id)
            assert len(boxes) == group.attrs["copies"]
            assert len({(one.kind, one.attrs["class_name"]) for one in boxes}) == 1
            continue
        assert len(blocks) == group.attrs["copies"]
        for block in blocks[1:]:
            assert_isomorphic(inside(found, blocks[0]), inside(found, block))


@given(st.lists(st.integers(0, 2), max_size=40))
def test_repeats_are_repeats_and_do_not_overlap(tokens):
    end = 0
    for start, period, copies in repeats(tokens, [1] * len(tokens)):
        assert start >= end
        assert copies >= 2
        end = start + period * copies
        assert tokens[start:end] == tokens[start : start + period] * copies


# --- copies ---------------------------------------------------------------------------------------


def residual_chain(count, width=3):
    """An input, then `count` blocks of Dense, ReLU, Add around a skip."""
    classes, arrows = ["InputLayer"], []
    for _ in range(count):
        start = len(classes) - 1
        classes += ["Dense", "ReLU", "Add"]
        arrows += [(start, start + 1), (start + 1, start + 2), (start + 2, start + 3)]
        arrows.append((start, start + 3))
    return graph_of(classes, arrows)


def test_residual_blocks_become_copies_of_blocks():
    found = with_blocks(residual_chain(4))
    (copies,) = [group for group in found.groups if group.attrs["kind"] == "copies"]
    assert (copies.attrs["copies"], copies.attrs["same_weights"]) == (4, False)
    blocks = [group for group in found.groups if group.parent == copies.id]
    assert [group.depth for group in blocks] == [3, 2, 1, 0]
    assert [[node.depth for node in found.nodes if node.group == b.id] for b in blocks] == [
        [2, 1, 0]
    ] * 4
    assert (copies.depth, copies.attrs["depth_last"]) == (11, 0)
    assert found.node("n0").group == ""


def test_a_chain_of_equal_layers_holds_them_directly():
    x = h = Input(shape=(4,), name="x")
    for number in range(50):
        h = Dense(4, name=f"dense_{number}")(h)
    found = with_blocks(node_graph(Model(x, h)))
    assert [(g.id, g.label, g.attrs["copies"]) for g in found.groups] == [
        ("dense_0..dense_49", "dense_0 … dense_49", 50)
    ]


def test_calls_of_one_layer_are_told_from_equal_layers():
    x = h = Input(shape=(4,), name="x")
    shared = Dense(4, name="shared")
    for _ in range(5):
        h = shared(h)
    (group,) = with_blocks(node_graph(Model(x, h))).groups
    assert (group.attrs["copies"], group.attrs["same_weights"]) == (5, True)


def test_blocks_that_share_some_weights_say_so():
    x = h = Input(shape=(4,), name="x")
    shared = Dense(4, name="shared")
    for number in range(3):
        h = Add()([h, shared(Dense(4, name=f"own_{number}")(h))])
    copies = with_blocks(node_graph(Model(x, h))).groups[0]
    assert (copies.attrs["copies"], copies.attrs["same_weights"]) == (3, False)
    assert copies.attrs["detail"] == "some weights are shared"


def test_other_sizes_are_no_copies():
    x = h = Input(shape=(4,), name="x")
    for units in range(5, 12):
        h = Dense(units)(h)
    graph = node_graph(Model(x, h))
    assert with_blocks(graph).groups == ()
    (group,) = with_blocks(graph, most=3).groups
    assert (group.attrs["kind"], group.attrs["alike"]) == ("alike", 7)
    assert group.attrs["detail"] == "7 alike, sizes differ"


def test_an_output_on_the_way_is_not_folded_into_copies():
    x = h = Input(shape=(4,), name="x")
    steps = [h := Dense(4, name=f"dense_{number}")(h) for number in range(9)]
    found = with_blocks(node_graph(Model(x, [steps[4], steps[8]])))
    assert found.node("dense_4").group == ""
    assert [group.attrs["copies"] for group in found.groups] == [4, 4]


def test_a_mask_that_every_block_takes_does_not_hide_the_blocks():
    x = h = Input(shape=(6, 4), name="x")
    mask = Input(shape=(6, 4), name="mask")
    for _ in range(12):
        h = LayerNormalization()(Add()([h, Dense(4)(Activation("relu")(h)), mask]))
    found = with_blocks(node_graph(Model([x, mask], h)))
    copies = [group for group in found.groups if group.attrs["kind"] == "copies"]
    assert [group.attrs["copies"] for group in copies] == [12]
    assert found.node("mask").group == ""
    assert_levels_go_down(found)


def test_twice_the_same_operand_is_another_block_than_two_operands():
    boxes = [box("x", "InputLayer", 7)]
    edges, before = [], "x"
    for number, doubled in enumerate([True, False, True, False]):
        a, b, end = (f"{name}{number}" for name in "abe")
        names = [a, end] if doubled else [a, b, end]
        boxes += [box(name, "Dense", 6 - number) for name in names]
        edges += [arrow(before, one) for one in names[:-1]]
        edges += [arrow(a, end, 0), arrow(a if doubled else b, end, 1)]
        before = end
    groups = with_blocks(Graph("g", tuple(boxes), tuple(edges))).groups
    assert [group.attrs.get("copies") for group in groups] == [2, None, None]


# --- names and scopes -----------------------------------------------------------------------------


def test_blocks_are_called_by_what_their_names_have_in_common():
    found = with_blocks(node_graph(ResNet50(weights=None)))
    assert {"conv2_block1", "conv2_block2", "conv4_block2..conv4_block6"} <= set(kinds(found))
    assert found.node("conv4_block3_2_bn").group == "conv4_block3"


def test_boxes_without_weights_do_not_spoil_a_name():
    found = with_blocks(node_graph(Xception(weights=None)))
    (copies,) = [group for group in found.groups if group.attrs["kind"] == "copies"]
    assert (copies.label, copies.attrs["copies"]) == ("block5 … block12", 8)


def test_name_scopes_become_frames():
    names = ["x", "enc/a", "enc/deep/b", "enc/deep/c", "enc/d", "y"]
    graph = graph_of(["Dense", "ReLU"] * 3, [(i, i + 1) for i in range(5)], names)
    found = with_blocks(graph)
    assert kinds(found) == {"enc": "scope", "enc/deep": "scope"}
    assert found.node("enc/deep/b").group == "enc/deep"
    assert_levels_go_down(found)


def test_scopes_that_feed_each_other_both_ways_are_no_frames():
    names = ["a/1", "b/1", "a/2", "b/2"]
    graph = graph_of(["Dense", "ReLU", "Add", "Dense"], [(0, 1), (1, 2), (2, 3)], names)
    assert with_blocks(graph).groups == ()


def test_frames_of_nested_models_stay():
    for make in ZOO.values():
        graph = node_graph(make(), expand_nested=True)
        found = with_blocks(graph)
        kept = {group.id for group in found.groups}
        assert {group.id for group in graph.groups} <= kept
        assert_levels_go_down(found)


def test_equal_nested_models_are_copies():
    x = h = Input(shape=(4,), name="x")
    for number in range(3):
        y = Input(shape=(4,))
        h = Model(y, Dense(4)(Activation("relu")(y)), name=f"block_{number}")(h)
    found = with_blocks(node_graph(Model(x, h), expand_nested=True))
    assert found.groups[0].attrs["copies"] == 3
    assert [g.parent for g in found.groups[1:]] == [found.groups[0].id] * 3


def test_frames_that_feed_each_other_are_left_alone():
    graph = graph_of(["Dense"] * 6, [(i, i + 1) for i in range(5)])
    nodes = tuple(
        type(node)(node.id, node.label, node.kind, "g" if i % 2 else "", node.depth, node.attrs)
        for i, node in enumerate(graph.nodes)
    )
    tangled = Graph("tangled", nodes, graph.edges, (GraphGroup("g", "g"),))
    assert [group.id for group in with_blocks(tangled).groups] == ["g"]


@pytest.mark.parametrize("size", [3000])
def test_a_long_chain_needs_no_recursion(size):
    classes = ["InputLayer", *["Dense"] * size]
    found = with_blocks(graph_of(classes, [(i, i + 1) for i in range(size)]))
    assert found.groups[0].attrs["copies"] == size


def encoder_of(blocks, repeat=True):
    """A chain of blocks of seven layers, of one build or each of another."""
    x = y = L.Input(shape=(6, 8))
    for number in range(blocks):
        z = L.Dense(8 if repeat else 8 + number)(L.LayerNormalization()(y))
        z = L.Dense(8)(L.Activation("relu")(z))
        y = L.Dropout(0.1)(L.LayerNormalization()(L.Add()([y, z])))
    return Model(x, y)


@pytest.mark.parametrize("blocks", [3, 6, 8, 10, 12])  # 10: a few boxes more than wanted
def test_a_picture_that_would_be_a_needle_is_folded_where_blocks_repeat(blocks):
    """Six blocks of an encoder, 57 boxes, were 411 points wide and 5,842 high."""
    drawing = ks.draw(encoder_of(blocks))
    is_needle = blocks > 3  # 22 rows of one box stay
    assert (len(drawing.graph.nodes) < len(drawing.whole.nodes)) == is_needle
    if is_needle:
        assert drawing.layout.height < 3 * drawing.layout.width
        assert any(box.attrs.get("copies") == blocks for box in drawing.graph.nodes)
    opened = ks.draw(encoder_of(blocks), expand="all")
    assert len(opened.graph.nodes) == len(opened.whole.nodes)


def test_a_long_chain_in_which_nothing_repeats_stays_as_it_is():
    drawing = ks.draw(encoder_of(5, repeat=False))
    assert len(drawing.graph.nodes) == len(drawing.whole.nodes)

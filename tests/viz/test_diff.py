import itertools

import numpy as np
import pytest
from effort import growth
from holding import holds_for
from hypothesis import strategies as st
from zoo import THINNED_ZOO, ZOO

from kerascope.engine.model import Model
from kerascope.errors import ArgumentError, DtypeError
from kerascope.layers import Concatenate, Dense, Dropout, Input
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.overlays.diff import diff, diff_lines, has_counted_name, matched_boxes

VIEWS = [{}, {"expand_nested": True}, {"level": "layer"}]


def states_of(graph):
    return {n.id: n.attrs["state"] for n in graph.nodes if "state" in n.attrs}


def arrows_of(graph, state):
    return {(e.source, e.target) for e in graph.edges if e.attrs.get("state") == state}


def plain_model(units, drop=False, name="m"):
    """Layers without names of their own."""
    h = x = Input((8,), name="x")
    for i, n in enumerate(units):
        h = Dense(n, activation="relu")(h)
        h = Dropout(0.5)(h) if drop and i == 0 else h
    return graph_of(Model(x, Dense(2, name="y")(h), name=name))


def siamese(units=32, name="encoder"):
    x = Input((16,), name="image")
    wide = Dense(units, activation="relu", name="wide")(x)
    encode = Model(x, Dense(4, name="code")(wide), name=name)
    left, right = Input((16,), name="left"), Input((16,), name="right")
    joined = Concatenate(name="pair")([encode(left), encode(right)])
    return Model([left, right], Dense(1, activation="sigmoid", name="same")(joined), name="siamese")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_a_model_does_not_differ_from_itself_built_again(name, view):
    before, after = graph_of(ZOO[name](), **view), graph_of(ZOO[name](), **view)
    both = diff(before, after)
    assert states_of(both) == {}
    assert not any("state" in part.attrs for part in (*both.edges, *both.groups))
    assert {n.id: n.depth for n in both.nodes} == {n.id: n.depth for n in after.nodes}
    assert both.attrs["same"] == len(after.nodes) == len(both.nodes)
    assert diff_lines(both)[1:] == []


@pytest.mark.parametrize(("one", "other"), [*itertools.permutations(list(ZOO)[:9], 2)])
def test_the_union_holds_each_box_and_arrow_of_both_once(one, other):
    before = graph_of(ZOO[one](), expand_nested=True)
    after = graph_of(ZOO[other](), expand_nested=True)
    both = diff(before, after)
    kept = [n for n in both.nodes if n.attrs.get("state") != "removed"]
    assert {n.id for n in kept} == {n.id for n in after.nodes}
    removed = len(both.nodes) - len(kept)
    assert len(before.nodes) == removed + len(kept) - both.attrs["added"]
    arrows = [e.attrs.get("state") for e in both.edges]
    assert len(arrows) - arrows.count("removed") == len(after.edges)
    assert len(arrows) - arrows.count("added") == len(before.edges)


# --- what changed ---------------------------------------------------------------------------------


def test_other_units_are_a_change_of_that_layer_and_of_what_follows():
    both = diff(graph_of(siamese(32)), graph_of(siamese(64)))
    assert states_of(both) == {"encoder@0": "changed"}
    assert both.node("encoder@0").attrs["note"] == "params 676 → 1,348"
    inside = diff(*(graph_of(siamese(n), expand_nested=True) for n in (32, 64)))
    note = inside.node("encoder@0/wide").attrs["note"]
    assert note == "(None, 32) → (None, 64), params 544 → 1,088"
    assert ("encoder@1/wide", "encoder@1/code") in arrows_of(inside, "changed")


def test_an_inserted_layer_is_the_only_one_added_though_all_others_count_on():
    both = diff(plain_model([16, 32]), plain_model([16, 32], drop=True))
    assert list(states_of(both).values()) == ["added"]
    assert both.attrs["caption"].startswith("1 added, 0 removed, 0 changed, 4 same. Arrows: ")
    added = next(n for n in both.nodes if "state" in n.attrs)
    assert added.attrs["class_name"] == "Dropout"
    assert [n.depth for n in both.nodes] == [4, 3, 2, 1, 0]


def test_a_removed_layer_keeps_its_place_between_the_others():
    both = diff(plain_model([16, 32], drop=True), plain_model([16, 32]))
    assert [n.attrs.get("state") for n in both.nodes] == [None, None, "removed", None, None]
    assert [n.depth for n in both.nodes] == [4, 3, 2, 1, 0]


def test_a_renamed_layer_is_one_change():
    nodes = {name: GraphNode(name, name, "dense", attrs={"class_name": "Dense"}) for name in "xaby"}

    def chain(*names):
        edges = tuple(map(GraphEdge, names, names[1:]))
        return Graph("c", tuple(nodes[n] for n in names), edges)

    both = diff(chain("x", "a", "y"), chain("x", "b", "y"))
    assert states_of(both) == {"b": "changed"}
    assert both.node("b").attrs["note"] == "name a → b"
    assert both.node("b").attrs["id_before"] == "a"
    assert arrows_of(both, "added") == arrows_of(both, "removed") == set()


def test_a_renamed_nested_model_stays_one_frame():
    before = graph_of(siamese(name="encoder"), expand_nested=True)
    both = diff(before, graph_of(siamese(name="reader"), expand_nested=True))
    assert states_of(both) == {}
    assert [g.id for g in both.groups] == ["reader@0", "reader@1"]
    assert both.groups[0].attrs["note"] == "name encoder → reader"
    assert "Frames: 2 changed" in both.attrs["caption"]


def test_what_is_too_long_for_a_note_stands_in_the_details():
    def one(**attrs):
        return Graph("one", (GraphNode("a", "a", "dense", attrs=attrs),), ())

    before = one(class_name="Dense", output_shapes="(None, 4)", activation="relu", trainable=True)
    after = one(
        class_name="Conv2D", output_shapes="(None, 8, 8, 4)", activation="", trainable=False
    )
    attrs = diff(before, after).node("a").attrs
    assert attrs["note"] == "class Dense → Conv2D and 3 more"
    assert attrs["detail"].split("\n") == [
        "class Dense → Conv2D",
        "(None, 4) → (None, 8, 8, 4)",
        "activation relu → none",
        "trainable yes → no",
    ]


def test_layers_that_change_places_keep_their_boxes_and_the_old_arrow_goes_up():
    def model(first, second):
        x = Input((4,), name="x")
        layers = {name: Dense(4, name=name) for name in "ab"}
        return graph_of(Model(x, layers[second](layers[first](x)), name="m"))

    both = diff(model("a", "b"), model("b", "a"))
    notes = {n.id: n.attrs["note"] for n in both.nodes if "state" in n.attrs}
    assert notes == {"b": "outputs output → none", "a": "outputs none → output"}
    assert arrows_of(both, "removed") == {("x", "a"), ("a", "b")}
    assert arrows_of(both, "added") == {("x", "b"), ("b", "a")}
    assert [(n.id, n.depth) for n in both.nodes] == [("x", 2), ("b", 1), ("a", 0)]


def test_a_removed_box_gets_another_id_if_its_own_is_taken():
    before = Graph("g", (GraphNode("x", "x", "input"), GraphNode("a", "a", "dense")), ())
    group_box = graph_of(ZOO["siamese"](), expand_nested=True)
    both = diff(Graph("g", (GraphNode("encoder@0", "e", "dense"),), (), attrs={"level": "node"}),
                group_box)  # fmt: skip
    assert states_of(both)["encoder@0~2"] == "removed"
    assert both.attrs["removed"] == 1
    assert diff(before, before).attrs["same"] == 2


def test_in_words():
    lines = diff_lines(diff(graph_of(ZOO["chain"]()), graph_of(ZOO["diamond"]())))
    assert lines[0].startswith("chain → diamond: 4 added, 4 removed, 0 changed, 0 same. Arrows")
    assert "+ left Dense (None, 4)" in lines
    assert "- dropout Dropout (None, 64)" in lines
    assert "- pixels → hidden" in lines


def test_what_cannot_be_compared_is_refused():
    model = ZOO["chain"]()
    with pytest.raises(DtypeError, match="expected two Graphs, got Model"):
        diff(graph_of(model), model)
    with pytest.raises(ArgumentError, match="the same level, got 'node' and 'layer'"):
        diff(graph_of(model), graph_of(model, "layer"))


# --- matching -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "class_name", "counted"),
    [
        ("dense_1", "Dense", True),
        ("conv2d_12", "Conv2D", True),
        ("input_1", "InputLayer", True),
        ("dense_4_input", "InputLayer", True),
        ("pixels", "InputLayer", False),
        ("add_1", "Operation: add", True),
        ("dense_out", "Dense", False),
        ("dense_1", "", False),
    ],
)
def test_a_counted_name_is_told_from_a_given_one(label, class_name, counted):
    box = GraphNode(label, label, "layer", attrs={"class_name": class_name})
    assert has_counted_name(box) is counted


@st.composite
def random_graphs(draw):
    size = draw(st.integers(1, 12))
    names = draw(st.permutations([f"n{i}" for i in range(14)]))[:size]
    nodes = [
        GraphNode(n, n, draw(st.sampled_from(["dense", "merge"])), depth=size - i)
        for i, n in enumerate(names)
    ]
    pairs = draw(
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=20)
    )
    edges = [GraphEdge(names[a], names[b], attrs={"operand": 0}) for a, b in pairs if a < b]
    return Graph("random", tuple(nodes), tuple(edges))


@holds_for(random_graphs(), random_graphs(), few=40, many=150)
def test_of_any_two_graphs_arrows_that_stay_go_down_and_matches_are_one_to_one(before, after):
    pairs = matched_boxes(before, after)
    assert len(set(pairs.values())) == len(pairs)
    both = diff(before, after)
    depths = {n.id: n.depth for n in both.nodes}
    for edge in both.edges:
        if edge.attrs.get("state") != "removed":
            assert depths[edge.source] > depths[edge.target]
    back = diff(after, before)
    assert both.attrs["added"] + len(pairs) == len(after.nodes)
    assert back.attrs["same"] + back.attrs["changed"] + back.attrs["added"] == len(before.nodes)
    assert diff(after, after).attrs["same"] == len(after.nodes)


def chain_of_kinds(count, start, units):
    """A chain of boxes, of which those of one width are alike; their names begin at a number."""
    widths = np.random.default_rng(0).integers(1, units, count)
    attrs = [{"class_name": "Dense", "output_shapes": f"({n},)"} for n in widths]
    names = [f"dense_{start + i}" for i in range(count)]
    nodes = tuple(
        GraphNode(name, name, "dense", depth=count - i, attrs=attrs[i])
        for i, name in enumerate(names)
    )
    return Graph("long", nodes, tuple(map(GraphEdge, names, names[1:])))


CHANGES = {"same": (0, 9), "other names": (0.7, 9), "other names and widths": (0.7, 8)}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_are_compared(count, change):
    shift, units = CHANGES[change]
    both = diff(chain_of_kinds(count, 0, 9), chain_of_kinds(count, int(shift * count), units))
    assert len(both.nodes) >= count
    assert (both.attrs["same"] == count) == (units == 9)


@pytest.mark.parametrize("change", CHANGES)
def test_the_work_of_comparing_is_not_the_square_of_the_boxes(change):
    shift, units = CHANGES[change]
    pairs = {
        count: (chain_of_kinds(count, 0, 9), chain_of_kinds(count, int(shift * count), units))
        for count in (100, 400)
    }
    assert growth(lambda count: diff(*pairs[count]), 100, times=4) < 7  # a square: 16

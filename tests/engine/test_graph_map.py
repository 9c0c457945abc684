"""The map of a graph: nodes, depths, cycles and what is disconnected, in both flavours."""

import pytest

from kerascope import Input, Model
from kerascope.engine.graph_map import (
    DepthAssigned,
    NodeFinished,
    NodeSkipped,
    NodeVisited,
    map_graph,
    map_stage,
)
from kerascope.engine.keras1.graph_map import build_map_of_graph
from kerascope.errors import CycleError, DisconnectedGraphError
from kerascope.layers import Add, Concatenate, Dense
from kerascope.stage import Stage


def diamond():
    x = Input((2,), name="x")
    a = Dense(2, name="A")(x)
    b, c = Dense(2, name="B")(a), Dense(2, name="C")(a)
    return x, Add(name="add")([b, Add(name="E")([c, x])])


def names_by_depth(graph_map):
    return {
        depth: [layer.name for layer in layers]
        for depth, layers in graph_map.layers_by_depth.items()
    }


@pytest.mark.parametrize("flavour", ["1", "2"])
def test_a_chain_has_one_layer_per_depth(flavour):
    x = y = Input((2,), name="x")
    for name in "abc":
        y = Dense(2, name=name)(y)
    found = map_graph([x], [y], flavour)
    assert names_by_depth(found) == {3: ["x"], 2: ["a"], 1: ["b"], 0: ["c"]}
    assert found.flavour == flavour


@pytest.mark.parametrize("flavour", ["1", "2"])
def test_a_node_lies_as_deep_as_its_longest_path(flavour):
    x, y = diamond()
    found = map_graph([x], [y], flavour)
    assert names_by_depth(found) == {4: ["x"], 3: ["A"], 2: ["C"], 1: ["B", "E"], 0: ["add"]} or (
        names_by_depth(found) == {3: ["x"], 2: ["A", "C"], 1: ["B", "E"], 0: ["add"]}
    )
    depths = {node.outbound_layer.name: depth for node, depth in found.nodes_depths.items()}
    assert depths == {"add": 0, "B": 1, "E": 1, "C": 2, "A": 3, "x": 4}


def test_ties_stand_in_the_order_of_the_walk():
    x = Input((2,), name="x")
    branches = [Dense(2, name=name)(x) for name in "cab"]
    found = map_graph([x], [Concatenate(name="all")(branches)])
    assert [layer.name for layer in found.layers] == ["x", "c", "a", "b", "all"]


def test_nodes_are_finished_after_all_that_they_need():
    x, y = diamond()
    found = map_graph([x], [y])
    order = found.nodes_in_decreasing_depth
    for node in order:
        assert all(order.index(parent) < order.index(node) for parent in node.parent_nodes)
    assert found.network_nodes == ["x_ib-0", "A_ib-0", "B_ib-0", "C_ib-0", "E_ib-0", "add_ib-0"]


def test_a_node_is_lifted_to_the_depth_of_its_shared_layer_in_keras_2_only():
    x = Input((4,), name="x")
    shared, between, last = Dense(4, name="S"), Dense(4, name="D"), Dense(4, name="E")
    early = shared(x)  # S#0 feeds the sum directly
    y = Add(name="add")([early, last(shared(between(x)))])
    new, old = map_graph([x], [y], "2"), map_graph([x], [y], "1")
    first = shared.inbound_nodes[0]
    assert new.nodes_depths[first] == 2
    assert old.nodes_depths[first] == 1
    assert new.layers_depths[shared] == old.layers_depths[shared] == 2


def test_an_output_that_lies_on_the_way_to_another_is_not_at_depth_0():
    x = Input((2,))
    middle = Dense(2, name="middle")(x)
    end = Dense(2, name="end")(middle)
    found = map_graph([x], [end, middle])
    assert {layer.name: depth for layer, depth in found.layers_depths.items()}["middle"] == 1


def test_the_model_keeps_the_map_that_was_made_when_it_was_made():
    x = Input((2,))
    layer = Dense(2)
    model = Model(x, layer(x))
    found = model.graph_map
    layer(Input((2,)))
    assert model.graph_map is found
    assert len(found.nodes_depths) == 2


# --- events ---------------------------------------------------------------------------------------


def test_the_walk_can_be_followed_event_by_event():
    x, y = diamond()
    stage = map_stage([x], [y])
    events = [(inner.name, event) for inner, event in stage.walk()]
    told = [name for name, _ in events]
    assert [name for i, name in enumerate(told) if i == 0 or told[i - 1] != name] == [
        "map_graph", "build_map", "map_graph", "depth_sort", "map_graph", "check_graph",
    ]  # fmt: skip
    by_kind = {
        kind: [e for _, e in events if isinstance(e, kind)]
        for kind in (NodeVisited, NodeSkipped, NodeFinished, DepthAssigned)
    }
    assert len(by_kind[NodeVisited]) == len(by_kind[NodeFinished]) == len(stage.result.nodes_depths)
    assert [e.node.outbound_layer.name for e in by_kind[NodeSkipped]] == ["A", "x"]
    assert {e.node: e.depth for e in by_kind[DepthAssigned]} == stage.result.nodes_depths
    assert stage.result.visits == 8


def test_a_walked_map_equals_a_drained_one():
    x, y = diamond()
    stage = map_stage([x], [y])
    for _ in stage.walk():
        pass
    assert stage.result == map_graph([x], [y])


def test_the_nodes_in_progress_are_those_on_the_stack():
    x, y = diamond()
    deepest = []
    for inner, event in map_stage([x], [y]).walk():
        if isinstance(event, NodeVisited) and event.node.outbound_layer.name == "x":
            deepest = [node.outbound_layer.name for node in inner.names["nodes_in_progress"]]
            break
    assert deepest == ["add", "B", "A", "x"]


# --- what is wrong --------------------------------------------------------------------------------


def test_an_input_that_nobody_passes_is_reported_with_what_was_reached():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    h = Dense(2, name="h")(Dense(2, name="deep")(a))
    y = Add(name="sum")([h, b])
    with pytest.raises(
        DisconnectedGraphError,
        match=r'Graph disconnected: cannot obtain value for tensor b at layer "b"\. '
        r"The following previous layers were accessed without issue: \['a', 'deep'",
    ):
        map_graph([a], [y])


def cyclic():
    x = Input((2,), name="x")
    first, second = Dense(2, name="A"), Dense(2, name="B")
    y = second(first(x))
    first.inbound_nodes[0].input_tensors[0] = y  # no call can make a cycle: it is forced
    return x, y


def test_a_cycle_is_found_and_told():
    x, y = cyclic()
    with pytest.raises(
        CycleError, match=r'at layer "B" is part of a cycle\. B_ib-0 <- A_ib-0 <- B_ib-0'
    ):
        map_graph([x], [y])


def test_the_error_of_a_cycle_carries_its_nodes():
    x, y = cyclic()
    with pytest.raises(CycleError) as caught:
        map_graph([x], [y])
    assert [node.outbound_layer.name for node in caught.value.cycle] == ["B", "A", "B"]
    assert caught.value.subject.name == "B"


def test_calling_a_layer_on_its_own_output_is_no_cycle():
    x = Input((2,))
    layer = Dense(2, name="again")
    found = map_graph([x], [layer(layer(layer(x)))])
    assert found.layers_depths[layer] == 2
    assert len(found.nodes_depths) == 4


# --- Keras 1 --------------------------------------------------------------------------------------


def test_keras_1_leaves_a_mark_for_every_depth_at_which_it_meets_a_node():
    x, y = diamond()
    found = map_graph([x], [y], "1")
    meetings = {}
    for mark in found.seen_nodes:
        node_id, depth = mark.split("-")
        meetings.setdefault(node_id, []).append(int(depth))
    by_name = {str(id(node)): node.outbound_layer.name for node in found.nodes_depths}
    assert {by_name[i]: sorted(depths) for i, depths in meetings.items()} == {
        "add": [0], "B": [1], "E": [1], "C": [2], "A": [2, 3], "x": [2, 3, 4],
    }  # fmt: skip


def test_keras_1_visits_a_tower_once_for_every_depth_and_keras_2_once_for_every_edge():
    x = y = Input((2,))
    for _ in range(8):
        y = Add()([y, Dense(2)(y)])
    new, old = map_graph([x], [y], "2"), map_graph([x], [y], "1")
    assert new.visits == 1 + 8 * 3
    assert old.visits == 1 + sum(2 * k + 1 for k in range(1, 9)) == 81
    assert new.nodes_depths == old.nodes_depths


def test_keras_1s_walk_lists_a_node_once_that_it_visits_at_several_depths():
    x = Input((3,))
    near = Dense(3)(x)
    far = Dense(3)(Dense(3)(near))
    model = Model(x, Add()([near, far]))
    walk = Stage("map", build_map_of_graph(model.outputs, {}))
    found = walk.run()
    listed = found["nodes_in_decreasing_depth"]
    assert found["visits"] > len(listed) == len(set(listed)) == 5

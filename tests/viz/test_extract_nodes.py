import networkx
import numpy as np
import pytest
from zoo import LARGE_ZOO, THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.node_ids import call_ids
from kerascope.layers import RNN, Add, Bidirectional, Dense, Input, StackedRNNCells, Wrapper
from kerascope.viz.extract.networks import graph_model_of
from kerascope.viz.extract.nodes import node_graph


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def inputs_of_calls(model, expand_nested=False):
    """Count the input tensors of all calls, also inside every call of a nested model if asked."""
    total = 0
    for nodes in model.nodes_by_depth.values():
        for node in nodes:
            total += 0 if node.is_input else len(node.input_tensors)
            total += arrows_inside(node.outbound_layer) if expand_nested else 0
    return total


def arrows_inside(layer):
    """Count what a frame for one call of a layer adds."""
    if isinstance(layer, Network):
        return inputs_of_calls(graph_model_of(layer), expand_nested=True)
    if isinstance(layer, Bidirectional):  # to both directions, and from both to their merge
        return (2 if layer.merge_mode is None else 4) + sum(map(arrows_inside, layer.wrapped))
    if isinstance(layer, Wrapper):
        return arrows_inside(layer.layer)
    if type(layer) is RNN and isinstance(layer.cell, StackedRNNCells):
        return len(layer.cell.cells) - 1
    return 0


@pytest.mark.parametrize("expand_nested", [False, True])
def test_there_is_one_edge_for_every_input_tensor_of_every_call(model, expand_nested):
    graph = node_graph(model, expand_nested=expand_nested)
    assert len(graph.edges) == inputs_of_calls(model, expand_nested)


@pytest.mark.parametrize("name", LARGE_ZOO)
def test_large_models_are_drawn_as_they_are(name):
    model = LARGE_ZOO[name]()
    graph = node_graph(model)
    assert len(graph.edges) == inputs_of_calls(model)
    assert [box.id for box in graph.nodes] == list(model.node_ids)
    assert graph.attrs["parameters"] == model.count_params()


def test_the_shapes_on_boxes_and_edges_are_those_of_the_call(model):
    graph = node_graph(model)
    incoming = {}
    for edge in graph.edges:
        incoming.setdefault(edge.target, {})[edge.attrs["operand"]] = edge.attrs["shape"]
    for name, node in model.node_ids.items():
        box = graph.node(name)
        inputs = [] if node.is_input else [str(x.shape) for x in node.input_tensors]
        assert box.attrs["input_shapes"] == "; ".join(inputs)
        assert [shape for _, shape in sorted(incoming.get(name, {}).items())] == inputs
        assert box.attrs["output_shapes"] == "; ".join(str(y.shape) for y in node.output_tensors)


def test_there_is_one_box_for_every_call_at_its_depth(model):
    graph = node_graph(model)
    depths = {name: model.graph_map.nodes_depths[node] for node, name in call_ids(model).items()}
    assert {box.id: box.depth for box in graph.nodes} == depths


def test_depths_are_longest_paths_to_an_output(model):
    graph = node_graph(model)
    reverse = networkx.DiGraph([(edge.target, edge.source) for edge in graph.edges])
    reverse.add_edges_from(("end", box.id) for box in graph.nodes if box.attrs["outputs"])
    longest = {"end": -1}
    for name in list(networkx.topological_sort(reverse))[1:]:
        longest[name] = 1 + max(longest[before] for before in reverse.predecessors(name))
    if model.name == "several_ends":  # an output that is used on the way lies deeper than 0
        assert graph.node("early").depth == longest["early"] == 3
    assert {box.id: box.depth for box in graph.nodes} == {
        name: depth for name, depth in longest.items() if name != "end"
    }


def test_parameters_are_counted_once(model):
    graph = node_graph(model)
    assert graph.attrs["parameters"] == model.count_params()
    assert sum(box.attrs["parameters"] for box in graph.nodes) == model.count_params()


def test_expanding_does_not_change_the_number_of_parameters(model):
    graph = node_graph(model, expand_nested=True)
    assert graph.attrs["parameters"] == model.count_params()


def test_same_script_same_graph(model):
    again = ZOO[next(name for name, make in ZOO.items() if make().name == model.name)]()
    assert node_graph(again, expand_nested=True) == node_graph(model, expand_nested=True)


# --- names ----------------------------------------------------------------------------------------


def test_calls_of_a_shared_layer_are_counted_from_zero():
    graph = node_graph(ZOO["between_calls"]())
    assert [(e.source, e.target) for e in graph.edges] == [("x", "S@0"), ("S@0", "D"), ("D", "S@1")]
    first, second = graph.node("S@0"), graph.node("S@1")
    assert (first.attrs["call"], first.attrs["calls"], first.attrs["shared_with"]) == (0, 2, "")
    assert (second.attrs["call"], second.attrs["shared_with"]) == (1, "S@0")
    assert second.attrs["parameters"] == 0


def test_only_calls_inside_the_model_count():
    graph = node_graph(ZOO["decoder"]())
    assert [box.id for box in graph.nodes] == ["given_code", "decode"]


def test_two_calls_that_would_have_one_name_are_told_apart():
    x = Input(shape=(2,), name="x")
    shared, odd = Dense(2, name="shared"), Dense(2, name="shared@0")
    graph = node_graph(Model(x, odd(shared(shared(x)))))
    assert sorted(box.id for box in graph.nodes) == ["shared@0", "shared@0~2", "shared@1", "x"]


# --- edges ----------------------------------------------------------------------------------------


def test_a_name_with_a_slash_keeps_its_id_beside_what_lies_in_a_frame():
    x = Input(shape=(3,), name="x")
    inner = Model(x, Dense(3, name="b")(x), name="a")
    y = Input(shape=(3,), name="y")
    model = Model(y, Dense(2, name="a/b")(inner(y)))
    graph = node_graph(model, expand_nested=True)
    assert graph.node("a/b").attrs["output_shapes"] == "(None, 2)"
    assert graph.node("a/b~2").attrs["output_shapes"] == "(None, 3)"
    assert model.node("a/b").outbound_layer.name == "a/b"


def test_x_plus_x_has_two_edges_with_their_operands():
    graph = node_graph(ZOO["doubled"]())
    operands = [e.attrs["operand"] for e in graph.edges if (e.source, e.target) == ("h", "double")]
    assert operands == [0, 1]


def test_an_edge_says_which_output_it_leaves_and_its_shape():
    graph = node_graph(ZOO["nested_with_two_outputs"]())
    ends = [(e.attrs["output"], e.attrs["operand"], e.attrs["shape"]) for e in graph.edges[1:]]
    assert ends == [(0, 0, "(None, 2)"), (1, 1, "(None, 2)")]


def test_what_no_layer_made_is_drawn_as_a_tensor():
    x = Input(shape=(2,), name="x")
    offset = K.constant(np.ones((1, 2)), name="offset")
    graph = node_graph(Model(x, Add(name="shifted")([x, offset])))
    box = graph.node("offset")
    assert (box.kind, box.depth) == ("tensor", 1)
    assert [(e.source, e.target) for e in graph.edges] == [("x", "shifted"), ("offset", "shifted")]


def test_an_input_that_no_output_needs_is_drawn():
    x, unused = Input(shape=(2,), name="x"), Input(shape=(3,), name="unused")
    graph = node_graph(Model([x, unused], Dense(1, name="y")(x)))
    assert graph.node("unused").depth == 1


def test_outputs_are_marked():
    graph = node_graph(ZOO["several_ends"]())
    marks = {box.id: box.attrs["outputs"] for box in graph.nodes if box.attrs["outputs"]}
    assert marks == {"early": "output 1", "late": "output 0"}
    assert node_graph(ZOO["chain"]()).node("scores").attrs["outputs"] == "output"


# --- nested models --------------------------------------------------------------------------------


def test_each_call_of_a_nested_model_is_a_group_of_its_own():
    graph = node_graph(ZOO["siamese"](), expand_nested=True)
    assert [(group.id, group.attrs["call"]) for group in graph.groups] == [
        ("encoder@0", 0),
        ("encoder@1", 1),
    ]
    inside = [box.id for box in graph.nodes if box.group == "encoder@1"]
    assert inside == ["encoder@1/image", "encoder@1/wide", "encoder@1/code"]
    assert graph.node("encoder@1/wide").attrs["shared_with"] == "encoder@0/wide"
    assert graph.node("encoder@1/code").depth == 0


def test_edges_run_into_and_out_of_an_expanded_model():
    graph = node_graph(ZOO["siamese"](), expand_nested=True)
    edges = {(edge.source, edge.target) for edge in graph.edges}
    assert {("left", "encoder@0/image"), ("encoder@1/code", "pair")} <= edges


def test_a_group_inside_a_group_names_its_parent():
    graph = node_graph(ZOO["nested_in_nested"](), expand_nested=True)
    assert [(group.id, group.parent) for group in graph.groups] == [
        ("middle", ""),
        ("middle/inner", "middle"),
    ]
    assert graph.node("middle/inner/code").group == "middle/inner"


def test_a_nested_sequential_is_expanded_too():
    graph = node_graph(ZOO["sequential"](), expand_nested=True)
    assert [box.id for box in graph.nodes if box.group == "block"] == [
        "block/deep_input",
        "block/deep",
        "block/drop",
    ]


def test_a_nested_model_has_the_shapes_of_each_of_its_calls():
    x = Input((None, 3), name="x")
    net = Model(x, Dense(2, name="d")(x), name="net")
    a, b = Input((4, 3), name="a"), Input((7, 3), name="b")
    model = Model([a, b], [net(a), net(b)])
    known = len(net.layers[1].inbound_nodes), len(net._output_tensor_cache)
    graph = node_graph(model, expand_nested=True)
    shapes = [graph.node(f"net@{i}/d").attrs["output_shapes"] for i in range(2)]
    assert shapes == ["(None, 4, 2)", "(None, 7, 2)"]
    assert [e.attrs["shape"] for e in graph.edges if e.target == "net@1/d"] == ["(None, 7, 3)"]
    assert (len(net.layers[1].inbound_nodes), len(net._output_tensor_cache)) == known


def test_a_group_is_a_call_with_the_attributes_of_its_layer():
    (first, second) = node_graph(ZOO["siamese"](), expand_nested=True).groups
    assert first.attrs["kind"] == second.attrs["kind"] == "call"
    assert (second.attrs["call"], second.attrs["calls"]) == (1, 2)
    assert (first.attrs["class_name"], first.attrs["output_shapes"]) == ("Model", "(None, 4)")


def test_a_network_with_a_call_of_its_own_is_expanded():
    graph = node_graph(ZOO["subclassed_inside"](), expand_nested=True)
    assert [group.id for group in graph.groups] == ["block@0", "block@1"]
    inside = [box.id.removeprefix("block@1/") for box in graph.nodes if box.group == "block@1"]
    assert inside == ["input_1", "mix@0", "mix@1", "drop", "join"]
    assert graph.node("block@1/mix@1").attrs["shared_with"] == "block@0/mix@0"

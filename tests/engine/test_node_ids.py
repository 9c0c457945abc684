import pytest
from zoo import LARGE_ZOO, THINNED_ZOO, ZOO

from kerascope.engine.input_layer import Input
from kerascope.engine.model import Model
from kerascope.engine.node_ids import call_ids, calls_in, clean
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.layers import Dense
from kerascope.viz.extract.nodes import node_graph


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def test_every_call_can_be_found_by_its_id(model):
    nodes = {node for nodes in model.nodes_by_depth.values() for node in nodes}
    assert set(model.node_ids.values()) == nodes
    assert all(model.node(name) is node for name, node in model.node_ids.items())


def test_the_ids_are_those_of_the_picture(model):
    assert list(model.node_ids) == [box.id for box in node_graph(model).nodes]


def test_one_walk_says_the_same_as_its_parts(model):
    calls = calls_in(model)
    assert {call.node: call.id for call in calls} == call_ids(model)
    for call in calls:
        layer = call.node.outbound_layer
        own = [one.node for one in calls if one.node.outbound_layer is layer]
        own.sort(key=layer.inbound_nodes.index)
        assert (own[call.call], len(own)) == (call.node, call.calls)
        assert call.depth == model.graph_map.nodes_depths[call.node]


@pytest.mark.parametrize("name", ["siamese", "three_levels", "time_distributed_model"])
def test_boxes_inside_frames_can_be_found_too(name):
    model = ZOO[name]()
    for box in node_graph(model, expand_nested=True).nodes:
        if box.id != "each_code/score":  # a layer inside a wrapper makes no node
            assert model.node(box.id).outbound_layer.name == box.attrs["layer"]


def test_the_calls_of_a_shared_layer_are_apart():
    model = ZOO["between_calls"]()
    first, second = model.node("S@0"), model.node("S@1")
    assert (first.outbound_layer, second.outbound_layer) == (model.get_layer("S"),) * 2
    assert second.parent_nodes == [model.node("D")]


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("between_calls", "S", r"there is no call 'S'\. .*Use one of: x, S@0, D, S@1\."),
        ("shared_layer", "shared", r"Did you mean 'shared@[01]'\?"),
        ("siamese", "encoder@2", r"Did you mean 'encoder@[01]'\?"),
        ("siamese", "encoder@0/wid", r"Model 'encoder': .*Did you mean 'wide'\?"),
        ("time_distributed_model", "each_code/score", r"Calls inside TimeDistributed 'each_code'"),
        ("chain", 3, r"there is no call 3\. Use one of: pixels,"),
    ],
)
def test_a_call_that_there_is_not(name, asked, message):
    with pytest.raises(ArgumentError, match=message):
        ZOO[name]().node(asked)


def test_a_model_without_a_graph_has_no_calls():
    with pytest.raises(NotBuiltError, match="has no graph yet"):
        Model().node("dense")


def test_names_that_look_like_ids_are_found_as_they_are_drawn():
    x, shared, odd = Input(shape=(2,), name="x"), Dense(2, name="shared"), Dense(2, name="shared@0")
    model = Model(x, odd(shared(shared(x))))
    assert {name: model.node(name).outbound_layer for name in model.node_ids if name != "x"} == {
        "shared@0": shared,
        "shared@1": shared,
        "shared@0~2": odd,
    }


@pytest.mark.parametrize("text", ["plain", "größe 日本", "tab\tand\nline"])
def test_what_xml_can_hold_stays(text):
    assert clean(text) == text


@pytest.mark.parametrize("character", [chr(0), chr(0x1B), chr(0xFFFE), chr(0xD800)])
def test_what_xml_cannot_hold_is_replaced(character):
    assert clean(f"a{character}b") == "a\ufffdb"


@pytest.mark.parametrize("name", LARGE_ZOO)
def test_in_large_models_ids_are_names(name):
    model = LARGE_ZOO[name]()
    assert sorted(model.node_ids) == sorted(layer.name for layer in model.layers)

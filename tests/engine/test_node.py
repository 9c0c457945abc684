"""Nodes: what a call of a layer enters in the books."""

import pytest

from kerascope import Input, Model
from kerascope.engine.node import KerasHistory, Node
from kerascope.errors import ArgumentError, IllDefinedError
from kerascope.layers import Add, Concatenate, Dense, Lambda, Layer


class TwoHeads(Layer):
    """Gives its input twice: once as it is, once negated."""

    def call(self, inputs):
        return [inputs * 1.0, -inputs]


def test_a_new_layer_has_no_nodes():
    layer = Dense(3)
    assert layer.inbound_nodes == []
    assert layer.outbound_nodes == []


def test_each_call_makes_one_node_with_the_next_index():
    layer = Dense(3)
    for _ in range(3):
        layer(Input((4,)))
    assert [node.node_index for node in layer.inbound_nodes] == [0, 1, 2]
    assert [node.name for node in layer.inbound_nodes] == [f"{layer.name}_ib-{i}" for i in range(3)]


def test_a_node_enters_itself_on_both_sides():
    x = Input((4,))
    first, second = Dense(3), Dense(2)
    second(first(x))
    (node,) = second.inbound_nodes
    assert first.outbound_nodes == [node]
    assert x._keras_history.layer.outbound_nodes == first.inbound_nodes
    assert second.outbound_nodes == []


def test_a_layer_that_feeds_a_node_twice_has_it_once_among_its_outbound_nodes():
    x = Input((4,))
    merge = Add()
    merge([x, x])
    assert x._keras_history.layer.outbound_nodes == merge.inbound_nodes


def test_a_node_derives_its_connections_from_the_histories_of_its_inputs():
    x = Input((4,), name="x")
    two, shared = TwoHeads(name="two"), Dense(4, name="shared")
    left, right = two(x)
    shared(left)
    joined = Concatenate(name="joined")
    joined([shared(right), x, right])
    (node,) = joined.inbound_nodes
    assert [layer.name for layer in node.inbound_layers] == ["shared", "x", "two"]
    assert node.node_indices == [1, 0, 0]
    assert node.tensor_indices == [0, 0, 1]
    assert node.parent_nodes == [
        shared.inbound_nodes[1],
        x._keras_history.node,
        two.inbound_nodes[0],
    ]
    assert node.input_shapes == [(None, 4)] * 3
    assert node.output_shapes == [(None, 12)]


def test_the_history_of_a_tensor_names_layer_call_and_output():
    two = TwoHeads()
    two(Input((4,)))
    y, z = two(Input((4,)))
    assert y._keras_history == KerasHistory(two, 1, 0)
    assert z._keras_history == KerasHistory(two, 1, 1)
    assert z._keras_history.node is two.inbound_nodes[1]


def test_the_config_of_a_node_has_four_keys():
    x = Input((4,), name="x")
    layer = Dense(2, name="last")
    layer(x)
    assert layer.inbound_nodes[0].get_config() == {
        "outbound_layer": "last",
        "inbound_layers": ["x"],
        "node_indices": [0],
        "tensor_indices": [0],
    }


def test_a_node_keeps_the_arguments_of_its_call():
    layer = Lambda(lambda x, factor=1.0: x * factor)
    x = Input((4,))
    layer(x)
    assert layer.inbound_nodes[0].arguments == {}


def test_create_node_calls_a_layer_on_chosen_outputs_of_others():
    a, b = Input((4,)), Input((4,))
    shared, joined = Dense(3), Concatenate()
    shared(a), shared(b)
    node = Node.create_node(joined, [shared, shared], node_indices=[1, 0])
    assert node.input_tensors == [shared.get_output_at(1), shared.get_output_at(0)]
    assert joined.inbound_nodes == [node]


def test_the_node_of_an_input_layer_begins_with_the_tensor_that_comes_out():
    x = Input((4,))
    (node,) = x._keras_history.layer.inbound_nodes
    assert node.is_input
    assert node.input_tensors == node.output_tensors == [x]
    assert node.parent_nodes == []


def test_a_fresh_model_has_one_node_and_no_outbound_ones():
    x = Input((4,))
    model = Model(x, Dense(2)(x))
    assert len(model.inbound_nodes) == 1
    assert model.outbound_nodes == []
    assert not model.inbound_nodes[0].is_input


def test_tensors_masks_and_shapes_are_found_by_the_index_of_the_call():
    layer = Dense(2)
    x, y = Input((4,)), Input((4,))
    first, second = layer(x), layer(y)
    assert layer.get_input_at(1) is y
    assert layer.get_output_at(0) is first
    assert layer.get_output_at(-1) is second
    assert layer.get_output_mask_at(0) is None
    assert layer.get_input_mask_at(0) is None
    assert layer.get_input_shape_at(1) == (None, 4)
    assert layer.get_output_shape_at(1) == (None, 2)


def test_shapes_are_well_defined_where_all_calls_agree():
    layer = Lambda(lambda x: x * 2.0)
    layer(Input((4,)))
    layer(Input((4,)))
    assert layer.input_shape == layer.output_shape == (None, 4)
    layer(Input((5,)))
    with pytest.raises(IllDefinedError, match=r'the notion of "layer output shape" is ill-defined'):
        _ = layer.output_shape


@pytest.mark.parametrize("what", ["input", "output", "input_mask", "output_mask", "output_shape"])
def test_a_layer_that_was_never_called_has_nothing_to_show(what):
    with pytest.raises(AttributeError, match="has never been called and thus has no defined"):
        getattr(Dense(2, name="lonely"), what)


def test_an_index_beyond_the_last_call_is_refused():
    layer = Dense(2)
    layer(Input((4,)))
    with pytest.raises(ArgumentError, match="at node 1, but the layer has only 1 inbound nodes"):
        layer.get_output_at(1)

"""Calls with tensors beside the inputs: edges of the graph, shapes and masks by name, copies."""

import json

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError
from kerascope.layers import Dense, Embedding, Input, Layer, MultiHeadAttention
from kerascope.models import Model

RNG = np.random.default_rng(0)
ARRAYS = [RNG.normal(size=(2, 3)), RNG.normal(size=(2, 4)), RNG.normal(size=(2, 3))]


class Mix(Layer):
    """x + state * kernel + the sum of others."""

    def build(self, input_shape, state_shape=None, others_shape=None):
        self.shapes = input_shape, state_shape, others_shape
        self.kernel = self.add_weight("kernel", (state_shape[-1], input_shape[-1]))

    def call(self, x, state=None, others=None, scale=1.0):
        y = scale * x + K.dot(state, self.kernel)
        for other in others or []:
            y = y + other
        self.add_loss(K.mean(y), inputs=x)
        return y


def mixed():
    inputs = [Input((3,)), Input((4,)), Input((3,))]
    x, state, other = inputs
    layer = Mix()
    return layer, Model(inputs, layer(x, state, others=[other], scale=2.0))


def expected(layer):
    x, state, other = ARRAYS
    return 2 * x + state @ layer.get_weights()[0] + other


def test_every_tensor_is_an_input_of_the_node():
    layer, model = mixed()
    node = layer.inbound_nodes[0]
    assert node.input_tensors == model.inputs
    assert node.inbound_layers == model.input_layers
    assert [len(x.outbound_nodes) for x in model.input_layers] == [1, 1, 1]
    assert node.arguments["scale"] == 2.0
    assert layer.shapes == ((None, 3), (None, 4), [(None, 3)])


def test_model_computes_with_all_of_them_and_so_does_a_call_on_arrays():
    layer, model = mixed()
    np.testing.assert_allclose(model.predict(ARRAYS), expected(layer), rtol=1e-5, atol=1e-6)
    x, state, other = ARRAYS
    found = layer(x, state, others=[other], scale=2.0)
    np.testing.assert_allclose(found, expected(layer), rtol=1e-5, atol=1e-6)
    assert len(layer.inbound_nodes) == 1


def test_configuration_survives_json():
    _, model = mixed()
    config = json.loads(json.dumps(model.get_config()))
    twin = Model.from_config(config, {"Mix": Mix})
    twin.set_weights(model.get_weights())
    np.testing.assert_array_equal(twin.predict(ARRAYS), model.predict(ARRAYS))
    assert twin.get_config() == model.get_config()


def test_nested_model_runs_on_the_outer_tensors():
    layer, model = mixed()
    inputs = [Input((3,)), Input((4,)), Input((3,))]
    outer = Model(inputs, Dense(1)(model(inputs)))
    outer.set_weights([*model.get_weights(), np.ones((3, 1)), np.zeros(1)])
    whole = expected(layer).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outer.predict(ARRAYS), whole, rtol=1e-4, atol=1e-5)


def test_losses_of_a_call_belong_to_all_its_inputs():
    layer, model = mixed()
    assert len(model.losses) == 1
    layer(Input((3,)), Input((4,)))
    assert len(model.losses) == 1  # not those of the other call
    assert len(layer.losses) == 2


def test_mask_of_an_argument_comes_by_its_name():
    seen = {}

    class Look(Layer):
        def compute_mask(self, inputs, mask=None):
            return mask

        def call(self, query, value, query_mask=None, value_mask=None, mask=None):
            seen.update(query=query_mask, value=value_mask, mask=mask)
            return query

    words, plain = Input((5,)), Input((5, 2))
    embedded = Embedding(3, 2, mask_zero=True)(words)
    Look()(plain, embedded)
    assert seen["query"] is None
    assert seen["value"] is embedded._keras_history.node.output_masks[0]
    Look()(embedded, value=plain)
    assert seen["query"] is seen["mask"] is embedded._keras_history.node.output_masks[0]
    assert seen["value"] is None


def test_attention_has_edges_from_query_value_and_key():
    query, value, key = Input((3, 4)), Input((5, 4)), Input((5, 2))
    for call in (
        lambda layer: layer(query, value, key),
        lambda layer: layer(query, value=value, key=key),
        lambda layer: layer([query, value, key]),
        lambda layer: layer(query=query, value=value, key=key),
    ):
        layer = MultiHeadAttention(2, 3)
        assert call(layer).shape == (None, 3, 4)
        assert layer.inbound_nodes[0].input_tensors == [query, value, key]


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (lambda: Dense(2), 2, "expected only its inputs by position, got 2 arguments"),
        (lambda: MultiHeadAttention(2, 3), 1, "expected a query, a value .*layer\\(x, x\\)"),
    ],
)
def test_wrong_number_of_tensors_is_refused(make, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        make()(*[Input((3, 4)) for _ in range(arguments)])


def test_argument_by_place_and_by_name_is_refused():
    x = Input((3,))
    with pytest.raises(ArgumentError, match="'state' is given by position and name"):
        Mix()(x, x, state=x)


class Sum(Layer):
    """x and what a dict holds."""

    def build(self, input_shape, further_shape=None):
        self.shapes = further_shape

    def call(self, x, further=None):
        return x + further["one"] + further["others"][0]


def test_tensors_in_a_dict_are_inputs_too():
    inputs = [Input((3,)) for _ in range(3)]
    x, one, other = inputs
    layer = Sum()
    model = Model(inputs, layer(x, further={"one": one, "others": [other]}))
    assert layer.inbound_nodes[0].input_tensors == inputs
    assert layer.shapes == {"one": (None, 3), "others": [(None, 3)]}
    arrays = [np.full((2, 3), n) for n in (1.0, 10.0, 100.0)]
    again = [Input((3,)) for _ in range(3)]
    nested = Model(again, model(again))
    config = json.loads(json.dumps(model.get_config()))
    for twin in (model, nested, Model.from_config(config, custom_objects={"Sum": Sum})):
        np.testing.assert_array_equal(twin.predict(arrays), np.full((2, 3), 111.0))


def test_shapes_of_several_outputs_may_be_lists():
    class Both(Layer):
        def call(self, x):
            return [x + 1, x * 2]

        def compute_output_shape(self, input_shape):
            return [list(input_shape), list(input_shape)]

    assert [y.shape for y in Both()(Input((3,)))] == [(None, 3), (None, 3)]

"""Attention layers against the real Keras 3: weights, outputs, scores and gradients, with masks."""

import numpy as np
import pytest
from keras_reference import generator, jax, keras

from kerascope import backend as K
from kerascope import layers
from kerascope.engine.model import Model
from kerascope.layers import Input

pytestmark = pytest.mark.usefixtures("answers")

rng = generator(6)


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def mask_of(*shape):
    """Return a mask in which every row has something."""
    mask = rng.random(shape) < 0.6
    mask[..., 0] = True
    return mask


QUERY, VALUE, KEY = floats(2, 3, 4), floats(2, 5, 6), floats(2, 5, 4)
PAIR, TRIPLE = [QUERY, KEY], [QUERY, VALUE, KEY]


def results_of_keras(layer, arrays, factors, call):
    """Return output, scores and gradients by the inputs and weights."""
    is_listed, keywords = call.listed, {"return_attention_scores": True, **call.theirs()}

    def compute(arrays, trained):
        fixed = [v.value for v in layer.non_trainable_variables]
        placed = [arrays] if is_listed else arrays
        (output, scores), _ = layer.stateless_call(trained, fixed, *placed, **keywords)
        return (output * factors).sum(), (output, scores)

    trained = [v.value for v in layer.trainable_variables]
    derivative = jax.jit(jax.grad(compute, argnums=(0, 1), has_aux=True))
    gradients, (output, scores) = derivative(list(arrays), trained)
    return [np.asarray(x) for x in (output, scores, *gradients[0], *gradients[1])]


def results_of_ours(layer, weights, arrays, factors, call):
    inputs = [Input(batch_shape=(None, *a.shape[1:])) for a in arrays]
    masks = {name: Input(batch_shape=(None, *m.shape[1:])) for name, m in call.tensors.items()}
    output, scores = layer(
        *call.positional(inputs), return_attention_scores=True, **call.ours(masks)
    )
    layer.set_weights(weights)
    loss = K.sum(output * factors)
    wrt = [*inputs, *layer.trainable_weights]
    fed = [*inputs, *masks.values()]
    outputs = [output, scores, *K.gradients(loss, wrt)]
    assert layer.inbound_nodes[0].input_tensors == [*inputs, *masks.values()]
    return K.function(fed, outputs)([*arrays, *call.tensors.values()])


class Call:
    """How a layer is called: on a list, or by place; with masks by name."""

    def __init__(self, listed=False, plain=None, mask=None, **tensors):
        self.listed, self.plain, self.mask, self.tensors = listed, plain or {}, mask, tensors

    def positional(self, tensors):
        return [tensors] if self.listed else tensors

    def theirs(self):
        mask = {} if self.mask is None else {"mask": self.mask}
        return {**self.plain, **mask, **self.tensors}

    def ours(self, masks):
        listed = {} if self.mask is None else {"mask": self.mask}
        return {**self.plain, **listed, **masks}


def compare(name, arguments, arrays, call):
    reference = getattr(keras.layers, name)(**arguments)
    output, _ = reference(*call.positional(list(arrays)), return_attention_scores=True)
    weights = [rng.uniform(0.3, 1.0, w.shape).astype("float32") for w in reference.weights]
    reference.set_weights(weights)
    factors = floats(*output.shape)
    expected = results_of_keras(reference, arrays, factors, call)
    layer = getattr(layers, name)(**arguments)
    found = results_of_ours(layer, weights, arrays, factors, call)
    assert [w.name.split("/", 1)[1] for w in layer.weights] == [
        w.path.split("/", 1)[1] for w in reference.weights
    ]
    assert len(found) == len(expected)
    for mine, real in zip(found, expected, strict=True):
        assert mine.shape == real.shape
        np.testing.assert_allclose(mine, real, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(
    ("arguments", "arrays", "call"),
    [
        ({}, PAIR, {}),
        ({}, TRIPLE, {}),
        ({"use_scale": True}, PAIR, {"plain": {"use_causal_mask": True}}),
        ({"score_mode": "concat"}, TRIPLE, {}),
        ({"score_mode": "concat", "use_scale": True}, PAIR, {}),
        ({}, PAIR, {"mask": [mask_of(2, 3), mask_of(2, 5)]}),
    ],
)
def test_attention_agrees(arguments, arrays, call):
    compare("Attention", arguments, arrays, Call(listed=True, **call))


@pytest.mark.parametrize(
    ("arguments", "arrays", "call"),
    [
        ({}, PAIR, {}),
        ({"use_scale": False}, TRIPLE, {"mask": [mask_of(2, 3), mask_of(2, 5)]}),
    ],
)
def test_additive_attention_agrees(arguments, arrays, call):
    compare("AdditiveAttention", arguments, arrays, Call(listed=True, **call))


HEADS = {"num_heads": 2, "key_dim": 3}


@pytest.mark.parametrize(
    ("arguments", "arrays", "call"),
    [
        (HEADS, PAIR, {}),
        ({**HEADS, "value_dim": 5, "use_bias": False}, TRIPLE, {}),
        ({**HEADS, "output_shape": 7}, PAIR, {}),
        ({**HEADS, "output_shape": (2, 3)}, TRIPLE, {}),
        ({**HEADS, "attention_axes": 2}, [floats(2, 4, 3, 5), floats(2, 4, 6, 5)], {}),
        ({**HEADS, "attention_axes": (1,)}, [floats(2, 4, 3, 5), floats(2, 2, 3, 5)], {}),
        (HEADS, [floats(2, 2, 3, 5), floats(2, 3, 2, 5)], {}),
        (HEADS, PAIR, {"plain": {"use_causal_mask": True}}),
        (HEADS, PAIR, {"attention_mask": mask_of(2, 3, 5)}),
        (HEADS, PAIR, {"attention_mask": mask_of(2, 2, 3, 5)}),
        (HEADS, TRIPLE, {
            "plain": {"use_causal_mask": True},
            "value_mask": mask_of(2, 5),
            "key_mask": mask_of(2, 5),
            "attention_mask": mask_of(2, 3, 5),
        }),
    ],
)  # fmt: skip
def test_multi_head_attention_agrees(arguments, arrays, call):
    compare("MultiHeadAttention", arguments, arrays, Call(**call))


def test_masks_of_embeddings_reach_multi_head_attention_by_themselves():
    words = rng.integers(0, 4, (3, 5)), rng.integers(0, 4, (3, 6))

    def model_of(package, model_class):
        inputs = [package.Input((5,), dtype="int32"), package.Input((6,), dtype="int32")]
        embedding = package.Embedding(4, 3, mask_zero=True)
        query, value = embedding(inputs[0]), embedding(inputs[1])
        return model_class(inputs, package.MultiHeadAttention(2, 4)(query, value))

    ours, real = model_of(layers, Model), model_of(keras.layers, keras.Model)
    ours.set_weights([rng.normal(size=w.shape) for w in ours.get_weights()])
    real.set_weights(ours.get_weights())
    assert any(0 in row for row in words[1])
    np.testing.assert_allclose(
        ours.predict(list(words)), real.predict(list(words), verbose=0), rtol=1e-4, atol=1e-5
    )


def test_where_everything_is_masked_every_value_has_the_same_weight_as_in_keras_3():
    mask = np.zeros((2, 5), bool)
    found = layers.Attention()(PAIR, mask=[None, mask])
    expected = keras.layers.Attention()(PAIR, mask=[None, jax.numpy.asarray(mask)])
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-5)
    ours, real = (package.MultiHeadAttention(2, 3) for package in (layers, keras.layers))
    real(*PAIR)
    ours(*PAIR)
    real.set_weights(ours.get_weights())
    expected = np.asarray(real(*PAIR, value_mask=mask))
    np.testing.assert_allclose(ours(*PAIR, value_mask=mask), expected, rtol=1e-4, atol=1e-6)

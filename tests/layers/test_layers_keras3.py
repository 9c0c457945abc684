"""Against the real Keras 3: same weights, same data, same outputs and gradients.

The gradients of a random weighting of the output, by the inputs and by every trainable weight, come
from `K.gradients` here and from jax there. Everything in float64 would need a switch in jax that
holds for the whole process, so both sides run in float32.
"""

import numpy as np
import pytest
from keras_reference import generator, jax, keras

from kerascope import backend as K
from kerascope import layers
from kerascope.layers import Input
from kerascope.settings import config

pytestmark = pytest.mark.usefixtures("answers")

rng = generator(5)


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def words(*shape):
    return rng.integers(0, 6, shape).astype("int32")


def ours(name, arguments, arrays, weights, factors, training):
    """Return output, gradients by float inputs, gradients by trainable weights, layer."""
    layer = getattr(layers, name)(**arguments)
    inputs = [Input(batch_shape=(None, *a.shape[1:]), dtype=a.dtype.name) for a in arrays]
    output = layer(inputs if len(inputs) > 1 else inputs[0])
    layer.set_weights(weights)
    loss = K.sum(output * factors)
    wrt = [x for x in inputs if x.dtype == "float32"] + layer.trainable_weights
    f = K.function(
        [*inputs, K.learning_phase()],
        [output, *(K.gradients(loss, wrt) if wrt else [])],
        updates=layer.updates if training else [],
    )
    results = f([*arrays, int(training)])
    return results[0], results[1:], layer


def theirs(layer, arrays, factors, training):
    """The same from Keras 3, by jax's own derivative of its stateless call."""
    fixed = [v.value for v in layer.non_trainable_variables]
    trained = [v.value for v in layer.trainable_variables]
    places = [i for i, a in enumerate(arrays) if a.dtype == np.float32]
    kwargs = {"training": training} if isinstance(layer, keras.layers.BatchNormalization) else {}

    def compute(parts, trained):
        full = list(arrays)
        for place, part in zip(places, parts, strict=True):
            full[place] = part
        values = full if len(full) > 1 else full[0]
        output, state = layer.stateless_call(trained, fixed, values, **kwargs)
        return (output * factors).sum(), (output, state)

    parts = [arrays[i] for i in places]
    gradients, (output, state) = jax.jit(jax.grad(compute, argnums=(0, 1), has_aux=True))(
        parts, trained
    )
    return np.asarray(output), [np.asarray(g) for part in gradients for g in part], state


def compare(name, arguments, arrays, training=False, keras_arguments=None, rtol=2e-5):
    reference = getattr(keras.layers, name)(**(keras_arguments or arguments))
    shapes = [a.shape for a in arrays] if len(arrays) > 1 else arrays[0].shape
    reference.build(shapes)
    new = [rng.uniform(0.3, 1.0, w.shape).astype("float32") for w in reference.weights]
    reference.set_weights(new)
    factors = floats(*reference.compute_output_shape(shapes))
    output, gradients, layer = ours(name, arguments, arrays, new, factors, training)
    expected, expected_gradients, state = theirs(reference, arrays, factors, training)
    assert output.shape == expected.shape
    np.testing.assert_allclose(output, expected, rtol=rtol, atol=2e-5)
    assert len(gradients) == len(expected_gradients)
    for ours_, theirs_ in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(ours_, theirs_, rtol=1e-4, atol=1e-4)
    if training:
        for ours_, theirs_ in zip(layer.non_trainable_weights, state, strict=True):
            np.testing.assert_allclose(ours_.get_value(), theirs_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "activation", "use_bias"),
    [
        ((5, 4), None, True),
        ((5, 4), "relu", False),
        ((5, 3, 4), "softmax", True),
        ((5, 3, 4), None, False),
        ((2, 3, 2, 4), "tanh", True),
        ((2, 3, 2, 4), "elu", False),
    ],
)
def test_dense_agrees(shape, activation, use_bias):
    compare("Dense", {"units": 3, "activation": activation, "use_bias": use_bias}, [floats(*shape)])


@pytest.mark.parametrize(
    "activation",
    ["softmax", "elu", "selu", "softplus", "softsign", "relu", "tanh", "sigmoid", "linear"],
)
def test_activation_agrees(activation):
    compare("Activation", {"activation": activation}, [floats(4, 5)])


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("Flatten", {}, (2, 3, 4)),
        ("Flatten", {"data_format": "channels_first"}, (2, 3, 4, 2)),
        ("Flatten", {}, (2, 3)),
        ("Reshape", {"target_shape": (4, 3)}, (2, 3, 4)),
        ("Reshape", {"target_shape": (-1, 2)}, (2, 3, 4)),
        ("Reshape", {"target_shape": (3, 2, 2)}, (2, 12)),
        ("Permute", {"dims": (2, 1)}, (2, 3, 4)),
        ("Permute", {"dims": (3, 1, 2)}, (2, 3, 4, 5)),
        ("RepeatVector", {"n": 3}, (2, 5)),
        ("Masking", {"mask_value": 0.0}, (2, 3, 4)),
        ("ActivityRegularization", {"l1": 0.1}, (2, 3)),
    ],
)
def test_layer_without_weights_agrees(name, arguments, shape):
    compare(name, arguments, [floats(*shape)])


@pytest.mark.parametrize(
    "name", ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"]
)
def test_merge_of_two_agrees(name):
    compare(name, {}, [floats(3, 2, 4), floats(3, 2, 4)])


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("Add", [(3, 2, 4), (3, 1, 4)]),
        ("Multiply", [(3, 2, 4), (3, 4)]),
        ("Average", [(3, 2, 4), (3, 2, 1), (3, 2, 4)]),
        ("Maximum", [(3, 2, 4), (3, 1, 1)]),
        ("Minimum", [(3, 4), (3, 2, 4)]),
    ],
)
def test_merge_that_broadcasts_agrees(name, shapes):
    compare(name, {}, [floats(*shape) for shape in shapes])


@pytest.mark.parametrize("axis", [1, 2, -1, -2])
def test_concatenate_agrees(axis):
    compare("Concatenate", {"axis": axis}, [floats(3, 4, 4), floats(3, 4, 4), floats(3, 4, 4)])


@pytest.mark.parametrize(
    ("axes", "shapes"),
    [
        (1, [(3, 4), (3, 4)]),
        (-1, [(3, 4), (3, 4)]),
        (2, [(3, 2, 4), (3, 5, 4)]),
        ((1, 2), [(3, 4, 2), (3, 5, 4)]),
        ((2, 1), [(3, 2, 4), (3, 4)]),
        ((1, 1), [(3, 4), (3, 4, 5)]),
        ((1, 3), [(3, 4, 2), (3, 2, 5, 4)]),
    ],
)
@pytest.mark.parametrize("normalize", [True, False])
def test_dot_agrees(axes, shapes, normalize):
    compare("Dot", {"axes": axes, "normalize": normalize}, [floats(*shape) for shape in shapes])


@pytest.mark.parametrize("shape", [(3, 4), (3, 2, 4)])
def test_embedding_agrees(shape):
    compare("Embedding", {"input_dim": 6, "output_dim": 3}, [words(*shape)])


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("axis", "shape", "arguments"),
    [
        (-1, (8, 3), {}),
        (-1, (4, 5, 3), {"center": False}),
        (1, (4, 3, 5, 2), {"scale": False, "momentum": 0.5, "epsilon": 0.01}),
        (2, (4, 3, 5, 2), {}),
        (-1, (4, 3, 5, 2), {"center": False, "scale": False}),
    ],
)
def test_batch_normalization_agrees(training, axis, shape, arguments, monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    compare("BatchNormalization", dict(axis=axis, **arguments), [3 * floats(*shape)], training)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_scales_by_the_same_factor(rate):
    ones = np.ones((200, 50), "float32")
    kept = []
    for dropout in (layers.Dropout(rate, seed=1), keras.layers.Dropout(rate, seed=1)):
        output = np.asarray(dropout(ones, training=True))
        zero, factor = np.unique(output)
        assert zero == 0
        assert abs(float((output == 0).mean()) - rate) < 0.02
        kept.append(factor)
    assert kept[0] == pytest.approx(kept[1], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Dense", {"units": 3, "activation": "relu"}),
        ("Dropout", {"rate": 0.5}),
        ("BatchNormalization", {"axis": -1}),
        ("Embedding", {"input_dim": 6, "output_dim": 3}),
        ("Reshape", {"target_shape": (2, -1)}),
        ("Concatenate", {"axis": 1}),
        ("Dot", {"axes": 1}),
    ],
)
def test_configurations_name_the_same_arguments(name, arguments):
    mine = getattr(layers, name)(**arguments).get_config()
    real = getattr(keras.layers, name)(**arguments).get_config()
    # What Keras 3 added, and what only Keras 2 has.
    new = {
        "lora_rank",
        "lora_alpha",
        "quantization_config",
        "synchronized",
        "weights",
        "build_config",
    }
    assert set(real) - set(mine) - new - {"renorm", "renorm_clipping", "renorm_momentum"} == set()
    assert set(mine) - set(real) <= {"activity_regularizer", "input_length", "batch_input_shape"}

"""Helpers: a recurrent layer or wrapper here and in the real Keras 3, same weights and data."""

import numpy as np
from keras_reference import generator, jax

from kerascope import backend as K
from kerascope.layers import Input

rng = generator(8)
X = rng.normal(size=(3, 5, 4)).astype("float32")
MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]], bool)
SIGMOID = {"recurrent_activation": "sigmoid"}


def states_for(name, units=3):
    number = 2 if name == "LSTM" else 1
    return [rng.normal(size=(3, units)).astype("float32") for _ in range(number)]


def new_weights(layer):
    return [(0.6 * rng.normal(size=w.shape)).astype("float32") for w in layer.weights]


def ours(layer, x_array, weights, states, mask, factors):
    """Return outputs, then the gradients by input, states and weights."""
    x = Input(batch_shape=(None, *x_array.shape[1:]))
    first = [Input(batch_shape=(None, *s.shape[1:])) for s in states]
    mask_input = Input(batch_shape=(None, 5), dtype="bool")
    arguments = {"initial_state": first} if first else {}
    outputs = layer(x, **arguments, **({} if mask is None else {"mask": mask_input}))
    outputs = outputs if isinstance(outputs, list) else [outputs]
    layer.set_weights(weights)
    loss = sum(K.sum(y * f) for y, f in zip(outputs, factors, strict=True))
    gradients = K.gradients(loss, [x, *first, *layer.trainable_weights])
    f = K.function([x, *first, mask_input], [*outputs, *gradients])
    return f([x_array, *states, MASK if mask is None else mask])


def theirs(layer, x_array, states, mask, factors):
    arguments = {} if mask is None else {"mask": mask}
    fixed = [v.value for v in layer.non_trainable_variables]

    def compute(x, first, trained):
        given = {"initial_state": list(first)} if first else {}
        outputs, _ = layer.stateless_call(trained, fixed, x, **given, **arguments)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return sum((y * f).sum() for y, f in zip(outputs, factors, strict=True)), outputs

    trained = [v.value for v in layer.trainable_variables]
    gradients, outputs = jax.jit(jax.grad(compute, argnums=(0, 1, 2), has_aux=True))(
        x_array, tuple(states), trained
    )
    return [np.asarray(y) for y in [*outputs, gradients[0], *gradients[1], *gradients[2]]]


def compare(layer, reference, states=(), mask=None, x=X):
    """Hold outputs and gradients by input, states and weights against those of Keras 3."""
    reference.build(x.shape)
    weights = new_weights(reference)
    reference.set_weights(weights)
    shapes = layer.compute_output_shape(x.shape)
    shapes = shapes if isinstance(shapes, list) else [shapes]
    factors = [rng.normal(size=shape).astype("float32") for shape in shapes]
    found = ours(layer, x, weights, list(states), mask, factors)
    expected = theirs(reference, x, list(states), mask, factors)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=3e-5)

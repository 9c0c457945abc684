"""Functions of JAX are compared equation by equation; the constants they hold are their weights."""

import numpy as np
import pytest

import kerascope as ks

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytestmark = pytest.mark.live


@pytest.fixture
def arrays():
    random = np.random.default_rng(0)
    return [random.normal(size=size).astype("float32") for size in ((4, 8), (8,), (8, 3))]


def function(first, bias, second):
    def scores(x):
        return jax.nn.softmax(jnp.maximum(x @ first + bias, 0) @ second)

    return scores


def model(arrays):
    x = ks.Input((4,), name="x")
    h = ks.layers.Dense(8, activation="relu", name="one")(x)
    found = ks.Model(x, ks.layers.Dense(3, "softmax", use_bias=False, name="two")(h))
    found.set_weights(arrays)
    return found


def test_a_changed_constant_is_found_in_the_equation_that_reads_it(arrays):
    x = jnp.asarray(np.random.default_rng(1).normal(size=(2, 4)), "float32")
    assert ks.compare(function(*arrays), function(*arrays), x).equal
    changed = arrays[2].copy()
    changed[2, 1] += 1
    found = ks.compare(function(*arrays), function(*arrays[:2], changed), x)
    assert found.first.a[0].op == "dot_general"
    assert "[2, 1] is" in found.first.reasons[0]


def test_a_model_and_a_function_are_compared(arrays):
    x = jnp.asarray(np.random.default_rng(1).normal(size=(2, 4)), "float32")
    assert ks.compare(model(arrays), function(*arrays), x).equal
    changed = arrays[2].copy()
    changed[2, 1] += 1
    found = ks.compare(model(arrays), function(*arrays[:2], changed), x)
    assert found.first.name_a == "two"
    assert "differs at one number of 24: kernel[2, 1]" in found.first.reasons[0]

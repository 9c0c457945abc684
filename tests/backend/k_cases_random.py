"""Cases of random numbers: no reference gives the same ones, so shapes, types and moments hold."""

import numpy as np
import pytest

from kerascope import backend as K
from tests.backend.k_cases import behaviour


def drawn(tensor):
    """Return the numbers of two calls of one function."""
    f = K.function([], [tensor])
    return f([])[0], f([])[0]


def assert_moments(numbers, mean, stddev):
    assert numbers.mean() == pytest.approx(mean, abs=0.1 * stddev)
    assert numbers.std() == pytest.approx(stddev, rel=0.1)


@behaviour("random_normal")
def normal_numbers_have_their_mean_and_deviation():
    tensor = K.random_normal((50, 40), mean=2.0, stddev=0.5, seed=1)
    assert (K.int_shape(tensor), K.dtype(tensor)) == ((50, 40), "float32")
    first, second = drawn(tensor)
    assert_moments(first, 2.0, 0.5)
    assert (first != second).any()
    assert K.random_normal([2], dtype="float64").dtype == "float64"


@behaviour("random_uniform")
def uniform_numbers_fill_their_bounds():
    first, second = drawn(K.random_uniform((2000,), minval=-1, maxval=3, seed=1))
    assert (first >= -1).all()
    assert (first < 3).all()
    assert_moments(first, 1.0, 4 / 12**0.5)
    assert (first != second).any()


@behaviour("truncated_normal")
def truncated_numbers_stay_within_two_deviations():
    first, second = drawn(K.truncated_normal([2000], 1.0, 0.5, seed=1))
    assert (abs(first - 1.0) <= 1.0).all()
    assert_moments(first, 1.0, 0.44)
    assert (first != second).any()


@behaviour("random_binomial")
def binomial_numbers_are_one_with_their_probability():
    first, second = drawn(K.random_binomial((2000,), p=0.3, seed=1))
    assert set(np.unique(first)) == {0.0, 1.0}
    assert first.mean() == pytest.approx(0.3, abs=0.05)
    assert (first != second).any()
    assert not K.eval(K.random_binomial((20,))).any()
    assert K.eval(K.random_binomial((20,), 1)).all()


@behaviour("random_uniform", "random_normal", "truncated_normal", "random_binomial")
def one_seed_gives_one_sequence_and_no_seed_another():
    for name in ("random_uniform", "random_normal", "truncated_normal", "random_binomial"):
        function = getattr(K, name)
        half = {"p": 0.5} if name == "random_binomial" else {}
        left, right = (drawn(function((64,), **half, seed=7)) for _ in range(2))
        np.testing.assert_array_equal(left, right)
        left, right = (drawn(function((64,), **half))[0] for _ in range(2))
        assert (left != right).any()


@behaviour("random_normal")
def the_shape_may_be_that_of_the_batch():
    z_mean = K.placeholder((None, 2))
    noise = K.random_normal(shape=(K.shape(z_mean)[0], 2), mean=0.0, stddev=1.0)
    assert K.int_shape(noise) == (None, 2)
    assert K.function([z_mean], [noise])([np.ones((5, 2))])[0].shape == (5, 2)
    assert K.int_shape(K.random_normal(K.shape(z_mean))) == (None, 2)


@behaviour("random_normal_variable")
def a_variable_of_normal_numbers_keeps_them():
    v = K.random_normal_variable((50, 40), 2.0, scale=0.5, name="w")
    assert K.is_variable(v)
    assert (v.name, K.int_shape(v), K.dtype(v)) == ("w", (50, 40), "float32")
    assert_moments(K.get_value(v), 2.0, 0.5)
    np.testing.assert_array_equal(K.get_value(v), K.eval(v))


@behaviour("random_uniform_variable")
def a_variable_of_uniform_numbers_keeps_them():
    v = K.random_uniform_variable((2000,), low=-1, high=3, dtype="float64")
    assert (K.is_variable(v), K.dtype(v)) == (True, "float64")
    assert_moments(K.get_value(v), 1.0, 4 / 12**0.5)


@behaviour("dropout")
def dropout_zeroes_its_share_and_scales_the_rest():
    x = K.ones((50, 40))
    first, second = drawn(K.dropout(x, 0.25, seed=1))
    np.testing.assert_allclose(np.unique(first), [0, 4 / 3], rtol=1e-6)
    assert (first == 0).mean() == pytest.approx(0.25, abs=0.05)
    assert (first != second).any()
    np.testing.assert_array_equal(K.eval(K.dropout(x, level=0.0)), np.ones((50, 40)))
    with pytest.raises(ValueError, match="got 1"):
        K.dropout(x, 1.0)


@behaviour("dropout")
def dropout_along_a_whole_axis_and_its_gradient():
    x = K.placeholder((None, 5, 4))
    y = K.dropout(x, 0.5, noise_shape=(None, 1, 4), seed=1)
    assert K.int_shape(y) == (None, 5, 4)
    f = K.function([x], [y, K.gradients(K.sum(y), x)[0]])
    numbers, gradient = f([np.ones((8, 5, 4))])
    np.testing.assert_array_equal(numbers, np.repeat(numbers[:, :1], 5, axis=1))
    np.testing.assert_array_equal(numbers, gradient)

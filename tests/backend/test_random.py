import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.errors import ArgumentError, DtypeError, ShapeError

MANY = (200, 500)


def sample(tensor):
    return K.function([], tensor)([])


def test_uniform_numbers_fill_their_interval_evenly():
    x = sample(K.random_uniform(MANY, -1.0, 3.0, seed=1))
    assert (x.min() >= -1, x.max() < 3) == (True, True)
    assert x.mean() == pytest.approx(1.0, abs=0.02)
    assert x.var() == pytest.approx(16 / 12, rel=0.02)


def test_normal_numbers_have_their_mean_and_deviation():
    x = sample(K.random_normal(MANY, 2.0, 3.0, seed=1))
    assert x.mean() == pytest.approx(2.0, abs=0.05)
    assert x.std() == pytest.approx(3.0, rel=0.02)
    assert np.mean(np.abs(x - 2) < 3) == pytest.approx(0.6827, abs=0.01)


def test_truncated_normal_numbers_stay_within_two_deviations():
    x = sample(K.truncated_normal(MANY, 1.0, 0.5, seed=1))
    assert np.abs(x - 1.0).max() <= 1.0
    assert x.mean() == pytest.approx(1.0, abs=0.01)
    assert x.std() == pytest.approx(0.5 * 0.87962566, rel=0.01)


def test_binomial_numbers_are_ones_with_their_probability():
    x = sample(K.random_binomial(MANY, p=0.3, seed=1))
    assert set(np.unique(x)) == {0.0, 1.0}
    assert x.mean() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("make", [K.random_uniform, K.random_normal, K.truncated_normal])
def test_places_and_draws_are_independent(make):
    f = K.function([], make((2, 50_000), seed=3))
    first, second = f([]), f([])
    for a, b in ((first[0], first[1]), (first[0], second[0]), (first[0, 1:], first[0, :-1])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.02


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "make", [K.random_uniform, K.random_normal, K.truncated_normal, K.random_binomial]
)
def test_numbers_come_in_the_type_asked_for(make, dtype):
    x = sample(make((3, 4), dtype=dtype, seed=1))
    assert (x.dtype, x.shape) == (dtype, (3, 4))
    assert np.isfinite(x).all()


def test_uniform_numbers_of_half_precision_stay_below_one():
    assert sample(K.random_uniform((300, 1000), dtype="float16", seed=1)).max() < 1


def test_the_same_seed_gives_the_same_sequence():
    f, g = (K.function([], K.random_normal((5,), seed=42)) for _ in range(2))
    for _ in range(3):
        np.testing.assert_array_equal(f([]), g([]))


def test_another_seed_gives_other_numbers():
    assert (sample(K.random_normal((5,), seed=1)) != sample(K.random_normal((5,), seed=2))).all()


def test_each_call_draws_anew():
    f = K.function([], K.random_uniform((100,), seed=1))
    assert (f([]) != f([])).all()


def test_two_ops_without_a_seed_draw_different_numbers():
    f = K.function([], [K.random_uniform((100,)), K.random_uniform((100,))])
    first, second = f([])
    assert (first != second).all()


def test_numpys_seed_makes_a_script_repeatable():
    runs = []
    for _ in range(2):
        np.random.seed(0)
        f = K.function([], [K.random_uniform((4,)), K.dropout(K.ones((8,)), 0.5)])
        runs.append([x.tolist() for _ in range(2) for x in f([])])
    assert runs[0] == runs[1]


def test_one_op_used_twice_is_drawn_once_in_a_call():
    x = K.random_uniform((4,), seed=1)
    first, second = K.function([], [x * 1, x * 1])([])
    np.testing.assert_array_equal(first, second)


class ExplodeWhen(Op):
    def infer_shape(self, x, flag):
        return x.shape

    def perform(self, x, flag):
        if flag:
            raise FloatingPointError("boom")
        return x + 0


def test_a_call_that_fails_or_is_abandoned_uses_up_no_draw():
    def make():
        flag = K.placeholder((), name="flag")
        return K.function([flag], ExplodeWhen()(K.random_uniform((5,), seed=9), flag))

    undisturbed, f = make(), make()
    expected = [undisturbed([0]) for _ in range(2)]
    np.testing.assert_array_equal(f([0]), expected[0])
    with pytest.raises(FloatingPointError, match="boom"):
        f([1])
    for _ in f.stage([0]):
        break
    np.testing.assert_array_equal(f([0]), expected[1])


def test_the_gradient_meets_the_mask_of_the_forward_pass():
    x = K.variable(np.ones((50,)))
    y = K.dropout(x, 0.4, seed=1)
    f = K.function([], [y, K.gradients(K.sum(y), x)[0]])
    for _ in range(3):
        forward, gradient = f([])
        np.testing.assert_array_equal(forward, gradient)


def test_the_shape_may_be_a_tensor():
    x = K.placeholder((None, 3))
    y = K.random_uniform(K.shape(x), seed=1)
    assert y.shape == (None, 3)
    assert K.function([x], y)([np.zeros((4, 3))]).shape == (4, 3)
    z = K.random_normal((K.shape(x)[0], 7), seed=1)
    assert z.shape == (None, 7)
    assert K.function([x], z)([np.zeros((4, 3))]).shape == (4, 7)


def test_a_shape_of_unknown_length_is_refused():
    with pytest.raises(ShapeError, match="unknown number of sizes"):
        K.random_uniform(K.placeholder((None,), dtype="int32"))


def test_random_variables_start_with_random_numbers():
    u = K.random_uniform_variable((50, 40), -2.0, 2.0, name="u", seed=1)
    n = K.random_normal_variable((50, 40), 1.0, 0.5, dtype="float64", seed=1)
    assert (u.name, u.dtype, n.dtype) == ("u", "float32", "float64")
    assert np.abs(K.get_value(u)).max() <= 2
    assert K.get_value(n).mean() == pytest.approx(1.0, abs=0.05)
    again = K.random_uniform_variable((50, 40), -2.0, 2.0, seed=1)
    np.testing.assert_array_equal(K.get_value(u), K.get_value(again))


def test_dropout_keeps_the_mean():
    x = K.ones((100, 400))
    y = sample(K.dropout(x, 0.25, seed=1))
    assert sorted(np.unique(y).tolist()) == pytest.approx([0.0, 1 / 0.75])
    assert y.mean() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("noise_shape", [(None, 1, None), (6, 1, 5), (None, 1, 5)])
def test_dropout_of_a_whole_axis_at_once(noise_shape):
    x = K.placeholder((None, 4, 5))
    y = K.dropout(x, 0.5, noise_shape, seed=1)
    assert y.shape == (None if noise_shape[0] is None else 6, 4, 5)
    result = K.function([x], y)([np.ones((6, 4, 5))])
    assert (result == result[:, :1]).all()
    assert len(np.unique(result)) == 2


def test_dropout_of_nothing_is_the_tensor_itself():
    x = K.ones((2,))
    assert K.dropout(x, 0.0) is x


@pytest.mark.parametrize("level", [-0.1, 1.0, 2])
def test_the_level_of_dropout_is_a_share(level):
    with pytest.raises(ArgumentError, match=r"expected a level in \[0, 1\)"):
        K.dropout(K.ones((2,)), level)


def test_a_noise_shape_has_an_entry_for_each_axis():
    with pytest.raises(ArgumentError, match=r"noise_shape of 2 entries .* got \(2,\)"):
        K.dropout(K.ones((2, 3)), 0.5, (2,))


def test_random_numbers_are_floats():
    with pytest.raises(DtypeError, match="expected a float dtype"):
        K.random_uniform((2,), dtype="int32")

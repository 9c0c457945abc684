import numpy as np
import pytest

from kerascope import backend as K
from kerascope import constraints
from kerascope.errors import UnknownNameError

W = np.array([[3.0, 0.3, -1.0], [4.0, -0.4, 0.0]])


def constrained(constraint, w=W):
    return K.eval(constraint(K.variable(w)))


def norms(w, axis=0):
    return np.sqrt((w**2).sum(axis=axis))


def test_max_norm_shortens_only_what_is_too_long():
    result = constrained(constraints.MaxNorm(2.0))
    np.testing.assert_allclose(norms(result), [2.0, 0.5, 1.0], rtol=1e-6)
    np.testing.assert_allclose(result[:, 1:], W[:, 1:], rtol=1e-6)


def test_unit_norm_gives_each_column_length_one():
    np.testing.assert_allclose(norms(constrained(constraints.UnitNorm())), 1, rtol=1e-6)


def test_unit_norm_over_several_axes_takes_each_filter():
    kernel = np.random.default_rng(0).normal(size=(3, 3, 2, 5))
    result = constrained(constraints.UnitNorm(axis=[0, 1, 2]), kernel)
    np.testing.assert_allclose(norms(result, (0, 1, 2)), np.ones(5), rtol=1e-6)


def test_non_neg_sets_negative_numbers_to_zero():
    assert constrained(constraints.NonNeg()).tolist() == np.maximum(W, 0).astype("f4").tolist()


@pytest.mark.parametrize(
    ("rate", "expected"), [(1.0, [2.0, 0.8, 1.0]), (0.5, [3.5, 0.65, 1.0]), (0.0, [5.0, 0.5, 1.0])]
)
def test_min_max_norm_goes_towards_the_range_by_its_rate(rate, expected):
    result = constrained(constraints.MinMaxNorm(0.8, 2.0, rate=rate))
    np.testing.assert_allclose(norms(result), expected, rtol=1e-5)


def test_zero_vector_stays_zero():
    zero = np.zeros((2, 2))
    for constraint in (constraints.MaxNorm(), constraints.UnitNorm(), constraints.MinMaxNorm(0.5)):
        assert constrained(constraint, zero).tolist() == zero.tolist()


def test_base_constraint_changes_nothing():
    w = K.variable(W)
    assert constraints.Constraint()(w) is w


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("max_norm", "MaxNorm"),
        ("maxnorm", "MaxNorm"),
        ("nonneg", "NonNeg"),
        ("non_neg", "NonNeg"),
        ("unitnorm", "UnitNorm"),
        ("unit_norm", "UnitNorm"),
        ("min_max_norm", "MinMaxNorm"),
    ],
)
def test_old_and_new_names_give_the_same_constraint(name, cls):
    assert type(constraints.get(name)).__name__ == cls
    assert getattr(constraints, name) is getattr(constraints, cls)


def test_default_arguments_are_keras_ones():
    assert constraints.MaxNorm().get_config() == {"max_value": 2, "axis": 0}
    assert constraints.MinMaxNorm().get_config() == {
        "min_value": 0.0,
        "max_value": 1.0,
        "rate": 1.0,
        "axis": 0,
    }


def test_unknown_constraint_suggests_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"Unknown constraint 'maxnrom'. Did you mean 'maxnorm'"
    ):
        constraints.get("maxnrom")


def test_float64_weight_stays_float64():
    w = K.variable(W, dtype="float64")
    for name in ("max_norm", "non_neg", "unit_norm", "min_max_norm"):
        assert constraints.get(name)(w).dtype == "float64"

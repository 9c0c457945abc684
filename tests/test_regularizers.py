import numpy as np
import pytest

from kerascope import backend as K
from kerascope import regularizers
from kerascope.errors import UnknownNameError

W = np.array([[1.0, -2.0], [3.0, 0.5]])


def penalty(regularizer):
    return float(K.eval(regularizer(K.variable(W))))


@pytest.mark.parametrize(
    ("regularizer", "expected"),
    [
        (regularizers.l1(0.1), 0.1 * 6.5),
        (regularizers.l2(0.1), 0.1 * 14.25),
        (regularizers.l1_l2(0.1, 0.2), 0.1 * 6.5 + 0.2 * 14.25),
        (regularizers.L1L2(l2=0.5), 0.5 * 14.25),
    ],
)
def test_penalty_is_the_weighted_sum_of_sizes_and_squares(regularizer, expected):
    assert penalty(regularizer) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "factors"),
    [
        ("l1", (0.01, 0.0)),
        ("l2", (0.0, 0.01)),
        ("l1_l2", (0.01, 0.01)),
        ("l1l2", (0.01, 0.01)),
        ("activity_l2", (0.0, 0.01)),
        ("L1L2", (0.0, 0.0)),
        ("WeightRegularizer", (0.0, 0.0)),
    ],
)
def test_names_give_keras_default_factors(name, factors):
    found = regularizers.get(name)
    assert (found.l1, found.l2) == factors


def test_keras_1_classes_are_todays():
    assert regularizers.WeightRegularizer(l1=0.1).l1 == 0.1
    assert regularizers.ActivityRegularizer(l2=0.1).l2 == 0.1
    assert regularizers.activity_l1l2().get_config() == {"l1": 0.01, "l2": 0.01}


def test_regularizer_without_factors_asks_for_nothing():
    assert regularizers.L1L2()(K.variable(W)) == 0.0
    assert regularizers.Regularizer()(K.variable(W)) == 0.0


def test_penalty_has_a_gradient():
    w = K.variable(W)
    g = K.eval(K.gradients(regularizers.l1_l2(0.1, 0.2)(w), w)[0])
    np.testing.assert_allclose(g, 0.1 * np.sign(W) + 0.4 * W, rtol=1e-6)


def test_none_and_functions_pass_through():
    assert regularizers.get(None) is None
    assert regularizers.get(K.sum) is K.sum


def test_unknown_regularizer_suggests_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"Unknown regularizer 'l1_l3'. Did you mean 'l1_l2'"
    ):
        regularizers.get("l1_l3")

import math

import numpy as np
import pytest

from kerascope import activations
from kerascope import backend as K
from kerascope.errors import KerascopeWarning, ShapeError, UnknownNameError
from kerascope.layers import Dense, LeakyReLU, PReLU
from kerascope.models import Sequential, load_model, model_from_json
from kerascope.settings import config

NAMES = [
    "softmax",
    "elu",
    "selu",
    "softplus",
    "softsign",
    "relu",
    "tanh",
    "sigmoid",
    "hard_sigmoid",
    "exponential",
    "linear",
]

# One row per activation: the formula, for a single number.
FORMULAS = {
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "relu": lambda x: max(x, 0.0),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "hard_sigmoid": lambda x: min(max(0.2 * x + 0.5, 0.0), 1.0),
    "exponential": math.exp,
    "linear": lambda x: x,
}


def computed(function, array, **options):
    x = K.placeholder(shape=(None, *np.shape(array)[1:]))
    return K.function([x], [function(x, **options)])([array])[0]


def test_every_activation_of_keras_2_has_its_name():
    assert [name for name in NAMES if activations.get(name).__name__ != name] == []


@pytest.mark.parametrize("name", FORMULAS)
def test_activation_follows_its_formula(name):
    x = np.linspace(-4, 4, 18).reshape(6, 3)
    expected = np.vectorize(FORMULAS[name])(x)
    np.testing.assert_allclose(computed(activations.get(name), x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_softmax_of_three_axes_sums_to_one_along_its_axis(axis):
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    y = computed(activations.softmax, x, axis=axis)
    expected = np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    np.testing.assert_allclose(y.sum(axis=axis), 1, rtol=1e-6)


def test_softmax_of_huge_numbers_is_finite():
    y = computed(activations.softmax, np.array([[1e4, 0.0], [-1e4, -1e4]]))
    assert y.tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_softmax_of_one_axis_is_refused_in_keras_words():
    with pytest.raises(ShapeError, match="Cannot apply softmax to a tensor that is 1D"):
        activations.softmax(K.placeholder(shape=(3,)))


def test_relu_has_slope_bound_and_threshold():
    x = np.array([[-2.0, 0.5, 1.0, 3.0, 9.0]])
    y = computed(activations.relu, x, alpha=0.1, max_value=6.0, threshold=1.0)
    np.testing.assert_allclose(y, [[-0.3, -0.05, 0.0, 3.0, 6.0]], rtol=1e-6)


def test_none_is_linear():
    x = K.placeholder(shape=(None, 3))
    assert activations.get(None) is activations.linear
    assert activations.get(None)(x) is x


def test_callable_is_its_own_activation():
    def doubled(x):
        return 2 * x

    assert activations.get(doubled) is doubled


def test_unknown_activation_suggests_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        activations.get("rellu")
    assert str(caught.value).startswith("Unknown activation 'rellu'. Did you mean 'relu'? Known: ")


def test_custom_activation_is_found_by_name():
    def doubled(x):
        return 2 * x

    assert activations.deserialize("doubled", {"doubled": doubled}) is doubled
    assert activations.serialize(doubled) == "doubled"


def test_softmax_on_a_single_unit_has_no_gradient():
    x = K.variable(np.random.default_rng(1).normal(size=(5, 1)))
    y = activations.softmax(x)
    assert K.eval(y).tolist() == [[1.0]] * 5
    assert K.eval(K.gradients(K.sum(K.square(y)), x)[0]).tolist() == [[0.0]] * 5


# --- a layer as the activation of another one -----------------------------------------------------


@pytest.mark.parametrize(("dialect", "count"), [("1.2", 0), ("2.2", 2), ("3", 0)])
def test_a_layer_as_an_activation_is_warned_of_in_keras_2_alone(
    monkeypatch, recwarn, dialect, count
):
    monkeypatch.setattr(config, "dialect", dialect)
    assert isinstance(activations.get(LeakyReLU()), LeakyReLU)
    Dense(2, activation=PReLU())
    activations.get(LeakyReLU)
    assert [one.category for one in recwarn] == [KerascopeWarning] * count


@pytest.mark.parametrize("dialect", ["2.2", "3"])
@pytest.mark.filterwarnings("ignore:activation")
def test_a_layer_as_an_activation_is_read_back_with_its_weights(monkeypatch, tmp_path, dialect):
    monkeypatch.setattr(config, "dialect", dialect)
    model = Sequential(
        [Dense(3, activation=PReLU("ones"), input_shape=(4,)), Dense(2, activation=LeakyReLU(0.5))]
    )
    x = np.random.default_rng(0).normal(size=(5, 4))
    model.set_weights([w - 0.5 for w in model.get_weights()])
    read = [model_from_json(model.to_json())]
    read[0].set_weights(model.get_weights())
    for name in ("m.h5", "m.keras"):
        model.save(tmp_path / name)
        read.append(load_model(tmp_path / name))
    for one in read:
        assert isinstance(one.layers[0].activation, PReLU)
        np.testing.assert_array_equal(one.predict(x, verbose=0), model.predict(x, verbose=0))

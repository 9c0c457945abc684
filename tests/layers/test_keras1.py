"""What only Keras 1 has: its own layers, its order of arguments, edges by name, gates one by one.

That they compute what Keras 1.2.2 computes is told by tests/compat/test_old_keras.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerascope import layers
from kerascope.engine.layer_type import constructor_keywords, layer_registry
from kerascope.errors import ArgumentError, ConfigError, ShapeError
from kerascope.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    Input,
    Merge,
    ZeroPadding2D,
)
from kerascope.models import Model, Sequential, load_model
from kerascope.saving.older_keras import for_keras_2
from kerascope.spellings import ORDERS, translate

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")

OWN: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    ("Highway", {"activation": "tanh", "input_dim": 4}, (4,)),
    ("Highway", {"init": "he_normal", "W_regularizer": "l2", "bias": False}, (4,)),
    ("MaxoutDense", {"output_dim": 3, "nb_feature": 2, "b_constraint": "nonneg"}, (4,)),
    ("SReLU", {"shared_axes": [1]}, (3, 4)),
    ("ParametricSoftplus", {"alpha_init": 0.5, "shared_axes": 1}, (3, 4)),
    ("TimeDistributedDense", {"units": 2, "activation": "relu"}, (3, 4)),
]


@pytest.mark.parametrize(("name", "arguments", "shape"), OWN)
def test_a_layer_of_keras_1_is_saved_and_loaded_with_its_model(
    name: str, arguments: dict[str, Any], shape: tuple[int, ...], tmp_path: Any
) -> None:
    made = getattr(layers, name)(**arguments)
    x = Input(shape)
    model = Model(x, made(x))
    model.compile("sgd", "mse")
    data = np.random.RandomState(0).uniform(size=(5, *shape))
    model.save(str(tmp_path / "model.h5"))
    again = load_model(str(tmp_path / "model.h5"))
    assert again.layers[1].get_config() == for_keras_2(made.get_config())
    assert np.array_equal(again.predict(data), model.predict(data))
    with pytest.raises(ConfigError, match="Save the model as .h5"):
        model.save(str(tmp_path / "model.keras"))


@pytest.mark.parametrize("name", sorted({name for name, _, _ in OWN}))
def test_a_configuration_finds_a_layer_that_is_loaded_late(name: str) -> None:
    assert layer_registry.lookup(name) is getattr(layers, name)
    assert name in dir(layers)


@pytest.mark.parametrize("class_name", sorted(ORDERS))
def test_every_word_of_keras_1s_order_is_understood(class_name: str) -> None:
    cls = layer_registry.lookup(class_name)
    known = {
        *("W_regularizer", "weights", "input_dim", "input_length", "activity_regularizer"),
        *("mode", "kernel_size", "bias"),
    }
    for word in set(ORDERS[class_name]) - known:
        words = [translate(base.__name__, {word: 1}) for base in cls.__mro__]
        renamed = [next(iter(w)) for w in words if word not in w]
        assert word in constructor_keywords(cls) or renamed or word == "init", word


def test_arguments_in_keras_1s_order_are_told_by_what_stands_there() -> None:
    dense = Dense(3, "uniform", "tanh", None, "l2")
    assert type(dense.kernel_initializer).__name__ == "RandomUniform"
    assert dense.activation.__name__ == "tanh"
    assert dense.kernel_regularizer is not None
    lstm = LSTM(3, "uniform", "identity", "zero", "relu", "sigmoid")
    assert (lstm.unit_forget_bias, lstm.activation.__name__) == (False, "relu")
    normalization = BatchNormalization(1e-5, 0, 1)
    assert (normalization.epsilon, normalization.axis) == (1e-5, 1)
    embedding = Embedding(9, 3, "uniform", 5)
    assert embedding.batch_input_shape == (None, 5)
    convolution = Conv2D(3, (2, 2), "zero", "relu", None, "same", (2, 2), "th")
    assert (convolution.strides, convolution.data_format) == ((2, 2), "channels_first")


def test_todays_order_stays_todays() -> None:
    assert Dense(3, "tanh", False).use_bias is False
    assert LSTM(3, "relu", "sigmoid").activation.__name__ == "relu"
    assert BatchNormalization(1, 0.9).axis == 1
    assert Conv2D(3, (2, 2), (1, 2)).strides == (1, 2)


def test_an_argument_by_place_and_by_name_is_refused() -> None:
    with pytest.raises(
        ArgumentError, match="Dense: 'init' is given by name and, in Keras 1's order"
    ):
        Dense(3, "uniform", init="zero")


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ({"top_pad": 1, "right_pad": 2}, ((1, 0), (0, 2))),
        ({}, ((0, 0), (0, 0))),
        ({"left_pad": 1, "right_pad": 2, "bottom_pad": 3, "top_pad": 4}, ((4, 3), (1, 2))),
    ],
)
def test_edges_have_names_in_keras_1(given: dict[str, int], pairs: Any) -> None:
    assert ZeroPadding2D(given).padding == pairs


def test_an_edge_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match="padding: expected a whole number"):
        ZeroPadding2D({"upper_pad": 1})


@pytest.mark.parametrize(("cls", "gates"), [(LSTM, "icfo"), (GRU, "zrh")])
def test_the_arrays_of_each_gate_can_be_set_as_keras_1_counts_them(cls: Any, gates: str) -> None:
    layer = cls(2)
    Sequential([Dense(3, input_shape=(5, 4)), layer])
    parts = [
        np.full(shape, number, "float32")
        for number in range(len(gates))
        for shape in ((3, 2), (2, 2), (2,))
    ]
    layer.set_weights(parts)
    order = [gates.index(gate) for gate in ("ifco" if cls is LSTM else "zrh")]
    wanted = np.repeat(np.array(order, "float32"), 2)
    for weight in layer.get_weights():
        assert np.array_equal(weight.reshape(-1, weight.shape[-1])[0], wanted)
    before = layer.get_weights()
    with pytest.raises(ShapeError, match="do not fit each other"):
        layer.set_weights([np.zeros((i + 1, 2, 2)) for i in range(len(parts))])
    assert all(np.array_equal(x, y) for x, y in zip(before, layer.get_weights(), strict=True))


@pytest.mark.parametrize("mode", [1, 2])
def test_a_mode_of_batch_normalization_is_kept_in_its_configuration(mode: int) -> None:
    made = BatchNormalization(mode=mode)
    x = np.random.RandomState(0).normal(3.0, 2.0, (50, 4)).astype("float32")
    again = BatchNormalization.from_config(made.get_config())
    assert np.allclose(again(x), made(x))
    assert np.allclose(made(x).mean(axis=1 if mode == 1 else 0), 0, atol=1e-5)


def test_the_layers_of_a_first_merge_are_listed_before_the_line() -> None:
    left, right = (Sequential([Dense(2, input_dim=n)]) for n in (3, 4))
    last = Dense(1)
    model = Sequential([Merge([left, right], mode="concat"), last])
    assert model.flattened_layers == [*left.layers, *right.layers, last]
    assert model.predict([np.ones((2, 3)), np.ones((2, 4))]).shape == (2, 1)

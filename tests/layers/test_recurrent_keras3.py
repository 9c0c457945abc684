"""Recurrent layers against the real Keras 3: outputs, states and gradients, same weights.

Keras 3 differs in defaults alone: its gates are `sigmoid`, its GRU resets after the product.
"""

import numpy as np
import pytest
from keras_reference import keras
from recurrent_in_keras3 import MASK, SIGMOID, compare, states_for

from kerascope import layers

pytestmark = pytest.mark.usefixtures("answers")

FILMS = np.random.default_rng(9).normal(size=(2, 3, 5, 4, 2)).astype("float32")


@pytest.mark.parametrize("name", ["SimpleRNN", "GRU", "GRU after", "LSTM"])
@pytest.mark.parametrize(
    ("arguments", "with_states", "masked"),
    [
        ({"units": 3, "return_sequences": True, "return_state": True}, True, False),
        ({"units": 3, "go_backwards": True, "return_sequences": True}, False, True),
        ({"units": 3, "use_bias": False, "activation": "relu"}, True, True),
    ],
)
def test_layer_agrees(name, arguments, with_states, masked):
    kind, *after = name.split()
    arguments = dict(arguments)
    if kind != "SimpleRNN":
        arguments["recurrent_activation"] = "sigmoid"
    if kind == "GRU":
        arguments["reset_after"] = bool(after)
    states = states_for(kind) if with_states else ()
    layer, reference = (getattr(m, kind)(**arguments) for m in (layers, keras.layers))
    compare(layer, reference, states, MASK if masked else None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 2},
        {"kernel_size": (2, 3), "padding": "same", "return_sequences": True, "strides": 2},
        {"kernel_size": 2, "return_state": True, "go_backwards": True, "dilation_rate": (2, 1)},
    ],
)
def test_convolutional_lstm_agrees(arguments):
    arguments = {"filters": 2, **SIGMOID, **arguments}
    compare(layers.ConvLSTM2D(**arguments), keras.layers.ConvLSTM2D(**arguments), x=FILMS)


def test_stack_of_cells_agrees():
    ours_ = layers.RNN([layers.LSTMCell(3, **SIGMOID), layers.SimpleRNNCell(2)])
    cells = [keras.layers.LSTMCell(3), keras.layers.SimpleRNNCell(2)]
    compare(ours_, keras.layers.RNN(cells))


@pytest.mark.parametrize("name", ["SimpleRNN", "GRU", "LSTM"])
def test_configurations_name_the_same_arguments(name):
    mine = getattr(layers, name)(3).get_config()
    real = getattr(keras.layers, name)(3).get_config()
    new = {"seed", "zero_output_for_mask", "use_cudnn"}  # what Keras 3 added
    assert set(real) - set(mine) - new == set()
    assert set(mine) - set(real) <= {"implementation"}

"""TimeDistributed and Bidirectional against the real Keras 3: outputs and gradients."""

import pytest
from keras_reference import keras
from recurrent_in_keras3 import MASK, SIGMOID, compare, states_for

from kerascope import layers

pytestmark = pytest.mark.usefixtures("answers")


@pytest.mark.parametrize("merge_mode", ["concat", "mul", "ave", None])
def test_bidirectional_agrees(merge_mode):
    sequences = {"units": 2, "return_sequences": True}
    compare(
        layers.Bidirectional(layers.LSTM(**sequences, **SIGMOID), merge_mode),
        keras.layers.Bidirectional(keras.layers.LSTM(**sequences), merge_mode=merge_mode),
    )


def test_bidirectional_with_a_mask_agrees():
    """Of sequences, Keras 3 alone makes the masked steps zeros; its configurations say so."""
    compare(
        layers.Bidirectional(layers.SimpleRNN(2)),
        keras.layers.Bidirectional(keras.layers.SimpleRNN(2)),
        mask=MASK,
    )
    reference = keras.layers.Bidirectional(keras.layers.SimpleRNN(2, return_sequences=True))
    zeroed = layers.SimpleRNN(2, return_sequences=True, zero_output_for_mask=True)
    layer = layers.Bidirectional.from_config(layers.Bidirectional(zeroed).get_config())
    compare(layer, reference, mask=MASK)


def test_bidirectional_with_states_agrees():
    arguments = {"units": 3, "return_state": True}
    compare(
        layers.Bidirectional(layers.GRU(**arguments, **SIGMOID, reset_after=True)),
        keras.layers.Bidirectional(keras.layers.GRU(**arguments)),
        states_for("GRU") + states_for("GRU"),
    )


def test_time_distributed_agrees():
    compare(
        layers.TimeDistributed(layers.Dense(3, activation="tanh")),
        keras.layers.TimeDistributed(keras.layers.Dense(3, activation="tanh")),
    )

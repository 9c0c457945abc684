"""Cases of ConvLSTM2D, its cell and ConvRNN2D for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope import backend as K
from kerascope.layers import ConvLSTM2D, ConvLSTM2DCell, ConvRNN2D

rng = np.random.default_rng(13)


class Alone(ConvLSTM2DCell):
    """The cell, called on [images, h, c]; gives the new h and c side by side."""

    def build(self, input_shape):
        super().build(input_shape[0])

    def call(self, inputs):
        output, states = super().call(inputs[0], inputs[1:])
        return K.concatenate([output, states[-1]], axis=self.channel_axis)

    def compute_output_shape(self, input_shape):
        sizes = list(input_shape[1])
        sizes[self.channel_axis] *= 2
        return tuple(sizes)


Alone.__name__ = "ConvLSTM2DCell"


def floats(*shape):
    return rng.normal(size=shape)


LAST, FIRST = floats(2, 2, 3, 3, 1), floats(2, 2, 1, 3, 3)
IMAGES, STATE = floats(2, 3, 3, 2), floats(2, 2, 2, 1)

CASES = [
    LayerCase(lambda: ConvLSTM2D(1, 2), [LAST]),
    LayerCase(lambda: ConvLSTM2D(1, (2, 1), padding="same", return_sequences=True), [LAST]),
    LayerCase(lambda: ConvLSTM2D(2, 2, data_format="channels_first", unroll=True), [FIRST]),
    LayerCase(lambda: ConvLSTM2D(1, 2, strides=2, padding="same", go_backwards=True), [LAST]),
    LayerCase(lambda: ConvLSTM2D(1, 2, dilation_rate=2, use_bias=False), [LAST]),
    LayerCase(lambda: ConvLSTM2D(1, 2, dropout=0.2, recurrent_dropout=0.3), [LAST], random=True),
    LayerCase(lambda: ConvLSTM2D(1, 2), [LAST, STATE, STATE + 1]),
    LayerCase(lambda: ConvRNN2D(ConvLSTM2DCell(1, 2)), [LAST]),
    LayerCase(lambda: Alone(1, 2), [IMAGES, STATE, STATE + 1]),
    LayerCase(
        lambda: Alone(1, 2, padding="same", dropout=0.2, recurrent_dropout=0.3),
        [IMAGES, floats(2, 3, 3, 1), floats(2, 3, 3, 1)],
        random=True,
    ),
]

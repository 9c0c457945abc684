"""Cases of the recurrent layers and their cells for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope import backend as K
from kerascope.layers import (
    GRU,
    LSTM,
    RNN,
    GRUCell,
    Layer,
    LSTMCell,
    SimpleRNN,
    SimpleRNNCell,
    StackedRNNCells,
)

rng = np.random.default_rng(11)


def floats(*shape):
    return rng.normal(size=shape)


def alone(cell_class):
    """Return a cell class that is called on [input, *states] and gives its last new state.

    A cell gives an output and a list of states, the contract wants one tensor.
    """

    class Alone(cell_class):
        def build(self, input_shape):
            super().build(input_shape[0])

        def call(self, inputs):
            output, states = super().call(inputs[0], inputs[1:])
            return K.concatenate([output, states[-1]])

        def compute_output_shape(self, input_shape):
            return (input_shape[0][0], input_shape[1][1] + input_shape[-1][1])

    Alone.__name__ = cell_class.__name__
    return Alone


class MinimalCell(Layer):
    """A cell of one's own, as Keras's documentation shows it."""

    def __init__(self, units, **kwargs):
        self.units = units
        self.state_size = units
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units))
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, self.units))
        self.built = True

    def call(self, inputs, states):
        output = K.dot(inputs, self.kernel) + K.dot(states[0], self.recurrent_kernel)
        return output, [output]


X = floats(2, 3, 2)
STEP, STATE = floats(3, 2), floats(3, 2)
REGULARIZED = {
    "kernel_initializer": "he_normal",
    "recurrent_initializer": "glorot_normal",
    "bias_initializer": "ones",
    "kernel_regularizer": "l2",
    "recurrent_regularizer": "l1",
    "bias_regularizer": "l2",
    "activity_regularizer": "l2",
    "kernel_constraint": "max_norm",
    "recurrent_constraint": "non_neg",
    "bias_constraint": "non_neg",
}
DROPPING = {"dropout": 0.3, "recurrent_dropout": 0.4}
CELLS = {"MinimalCell": MinimalCell}


CASES = [
    LayerCase(lambda: SimpleRNN(2), [X]),
    LayerCase(lambda: SimpleRNN(2, "sigmoid", return_sequences=True, go_backwards=True), [X]),
    LayerCase(lambda: SimpleRNN(1, use_bias=False, unroll=True, **REGULARIZED), [X]),
    LayerCase(lambda: SimpleRNN(2, **DROPPING), [X], random=True),
    LayerCase(lambda: SimpleRNN(2), [X, STATE[:2]]),
    LayerCase(lambda: GRU(2, recurrent_activation="sigmoid"), [X]),
    LayerCase(lambda: GRU(2, return_sequences=True, unroll=True), [X]),
    LayerCase(lambda: GRU(2, recurrent_activation="sigmoid", reset_after=True), [X]),
    LayerCase(lambda: GRU(2, use_bias=False, reset_after=True, go_backwards=True), [X]),
    LayerCase(lambda: GRU(1, **REGULARIZED), [X]),
    LayerCase(lambda: GRU(2, **DROPPING), [X], random=True),
    LayerCase(lambda: GRU(2, implementation=2, **DROPPING), [X], random=True),
    LayerCase(lambda: LSTM(2, recurrent_activation="sigmoid"), [X]),
    LayerCase(lambda: LSTM(2, return_sequences=True, unroll=True, go_backwards=True), [X]),
    LayerCase(lambda: LSTM(2, use_bias=False, implementation=2), [X]),
    LayerCase(lambda: LSTM(1, unit_forget_bias=False, **REGULARIZED), [X]),
    LayerCase(lambda: LSTM(2, **DROPPING), [X], random=True),
    LayerCase(lambda: LSTM(2, implementation=2, **DROPPING), [X], random=True),
    LayerCase(lambda: LSTM(2), [X, STATE[:2], STATE[1:]]),
    LayerCase(lambda: RNN(MinimalCell(2)), [X], custom_objects=CELLS),
    LayerCase(lambda: RNN(MinimalCell(2), True, unroll=True), [X], custom_objects=CELLS),
    LayerCase(lambda: RNN([GRUCell(1), LSTMCell(2), SimpleRNNCell(2)]), [X]),
    LayerCase(
        lambda: RNN([GRUCell(1, dropout=0.2), MinimalCell(2), LSTMCell(1, recurrent_dropout=0.2)]),
        [X],
        random=True,
        custom_objects=CELLS,
    ),
    LayerCase(lambda: alone(SimpleRNNCell)(2, "sigmoid"), [STEP, STATE]),
    LayerCase(lambda: alone(SimpleRNNCell)(2, **DROPPING), [STEP, STATE], random=True),
    LayerCase(lambda: alone(GRUCell)(2), [STEP, STATE]),
    LayerCase(lambda: alone(GRUCell)(2, reset_after=True), [STEP, STATE]),
    LayerCase(lambda: alone(LSTMCell)(2), [STEP, STATE, STATE + 1]),
    LayerCase(lambda: alone(LSTMCell)(2, use_bias=False), [STEP, STATE, STATE + 1]),
    LayerCase(lambda: alone(StackedRNNCells)([GRUCell(2), SimpleRNNCell(2)]), [STEP, STATE, STATE]),
]

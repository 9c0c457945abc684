"""Cases of the wrappers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.engine.sequential import Sequential
from kerascope.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Dense,
    Dropout,
    Flatten,
    SimpleRNN,
    TimeDistributed,
    Wrapper,
)

rng = np.random.default_rng(12)


def floats(*shape):
    return rng.normal(size=shape)


def small_model():
    return Sequential([Dense(3, activation="tanh", input_shape=(2,)), Dense(2)])


X, X4 = floats(2, 3, 2), floats(2, 2, 3, 2)
STATES = [floats(2, 2) for _ in range(4)]


CASES = [
    LayerCase(lambda: Wrapper(Dense(3)), [X]),
    LayerCase(lambda: TimeDistributed(Dense(3, kernel_regularizer="l2")), [X]),
    LayerCase(lambda: TimeDistributed(Dense(3, activation="tanh")), [X4]),
    LayerCase(lambda: TimeDistributed(Flatten()), [X4]),
    LayerCase(lambda: TimeDistributed(Dropout(0.5)), [X], random=True),
    LayerCase(lambda: TimeDistributed(BatchNormalization()), [X]),
    LayerCase(lambda: TimeDistributed(LSTM(2)), [X4]),
    LayerCase(lambda: TimeDistributed(TimeDistributed(Dense(2))), [X4]),
    LayerCase(lambda: TimeDistributed(small_model()), [X]),
    LayerCase(lambda: Bidirectional(SimpleRNN(2)), [X]),
    LayerCase(lambda: Bidirectional(GRU(2, return_sequences=True), "sum"), [X]),
    LayerCase(lambda: Bidirectional(LSTM(2, return_sequences=True), "mul"), [X]),
    LayerCase(lambda: Bidirectional(LSTM(2, dropout=0.2), "ave"), [X], random=True),
    LayerCase(lambda: Bidirectional(LSTM(2)), [X, *STATES]),
]

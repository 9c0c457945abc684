"""Cases of the merge layers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
)

rng = np.random.default_rng(1)


def floats(*shape):
    return rng.normal(size=shape)


X, Y, Z = floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 4)
ROW, VECTOR = floats(2, 1, 4), floats(2, 4)

CASES = [
    LayerCase(lambda: Add(), [X, Y]),
    LayerCase(lambda: Add(), [X, Y, Z]),
    LayerCase(lambda: Add(), [X, ROW, VECTOR]),
    LayerCase(lambda: Subtract(), [X, Y]),
    LayerCase(lambda: Subtract(), [VECTOR, X]),
    LayerCase(lambda: Multiply(), [X, Y, ROW]),
    LayerCase(lambda: Average(), [X, Y, Z]),
    LayerCase(lambda: Maximum(), [X, Y, Z]),
    LayerCase(lambda: Minimum(), [X, VECTOR]),
    LayerCase(lambda: Concatenate(), [X, Y, floats(2, 3, 1)]),
    LayerCase(lambda: Concatenate(axis=1), [X, ROW]),
    LayerCase(lambda: Concatenate(axis=-2), [X, ROW]),
    LayerCase(lambda: Dot(axes=1), [VECTOR, floats(2, 4)]),
    LayerCase(lambda: Dot(axes=-1, normalize=True), [VECTOR, floats(2, 4)]),
    LayerCase(lambda: Dot(axes=2), [X, Y]),
    LayerCase(lambda: Dot(axes=(1, 2)), [X, floats(2, 2, 3)]),
    LayerCase(lambda: Dot(axes=[2, 1], normalize=True), [X, VECTOR]),
]

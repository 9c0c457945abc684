"""Cases of Operation for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import Operation

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.normal(size=shape)


ONE, TWO = {"tensor": 0}, {"tensor": 1}
NUMBERS = {"class_name": "__numpy__", "config": {"value": [1.0, 2.0, 3.0], "dtype": "float32"}}
COLUMN = {"class_name": "__slice__", "config": {"start": None, "stop": None, "step": None}}

CASES = [
    LayerCase(lambda: Operation("Add", [ONE, TWO]), [floats(2, 3), floats(2, 3)]),
    LayerCase(lambda: Operation("Subtract", [1.0, ONE]), [floats(2, 3)]),
    LayerCase(lambda: Operation("Multiply", [ONE, NUMBERS]), [floats(2, 3)]),
    LayerCase(lambda: Operation("Mean", [ONE], {"axis": 1, "keepdims": True}), [floats(2, 3, 4)]),
    LayerCase(lambda: Operation("GetItem", [ONE, [COLUMN, 0]]), [floats(2, 3, 4)]),
    LayerCase(
        lambda: Operation("Concatenate", [[ONE, TWO]], {"axis": -1}), [floats(2, 3), floats(2, 1)]
    ),
    LayerCase(
        lambda: Operation("Where", [ONE, TWO, 0.5]), [floats(2, 3), floats(2, 3)], smooth=False
    ),
]

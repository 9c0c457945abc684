"""Cases of the layers that normalise or rescale each sample, for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    GroupNormalization,
    LayerNormalization,
    Normalization,
    Rescaling,
    RMSNormalization,
    UnitNormalization,
)

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.normal(size=shape)


X2, X3, X4 = floats(3, 4), floats(3, 2, 4), floats(2, 2, 3, 4)

CASES = [
    LayerCase(
        lambda: Normalization(mean=[2.0, 1.0, 0.0, 3.0], variance=[1.0, 2.0, 3.0, 4.0]), [X3]
    ),
    LayerCase(lambda: Normalization(), [X3]),
    LayerCase(lambda: Normalization(axis=(1, 2), invert=True), [X4]),
    LayerCase(lambda: LayerNormalization(), [X2]),
    LayerCase(lambda: LayerNormalization(axis=[1, 2], epsilon=0.1), [X3]),
    LayerCase(lambda: LayerNormalization(axis=1, center=False), [X3]),
    LayerCase(lambda: LayerNormalization(axis=(1, 3), scale=False), [X4]),
    LayerCase(lambda: LayerNormalization(axis=(3, 1), beta_regularizer="l2"), [X4]),
    LayerCase(lambda: GroupNormalization(2), [X2]),
    LayerCase(lambda: GroupNormalization(2, epsilon=0.1), [X4]),
    LayerCase(lambda: GroupNormalization(3, axis=2, center=False), [X4]),
    LayerCase(lambda: GroupNormalization(-1, scale=False), [X3]),
    LayerCase(lambda: UnitNormalization(), [X2]),
    LayerCase(lambda: UnitNormalization(axis=[1, 2]), [X3]),
    LayerCase(lambda: RMSNormalization(), [X3]),
    LayerCase(lambda: RMSNormalization(axis=(1, 2), epsilon=0.1), [X3]),
    LayerCase(lambda: Rescaling(0.5, offset=-1.0), [X3]),
    LayerCase(lambda: Rescaling([0.5, 2.0, 1.0, 3.0]), [X2]),
    LayerCase(lambda: Rescaling(1 / 255), [rng.integers(0, 255, (2, 3)).astype("uint8")]),
]

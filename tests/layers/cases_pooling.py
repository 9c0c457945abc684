"""Cases of the pooling layers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)

rng = np.random.default_rng(6)


def apart(*shape):
    """Numbers of which no two are nearly equal: maxima have gradients there."""
    count = int(np.prod(shape))
    return rng.permutation(np.linspace(-1.0, 1.0, count)).reshape(shape)


STEPS, IMAGES, VOLUMES = apart(2, 5, 3), apart(2, 4, 5, 2), apart(2, 3, 2, 4, 1)

CASES = [
    LayerCase(lambda: MaxPooling1D(), [STEPS]),
    LayerCase(lambda: MaxPooling1D(3, 1, "same", "channels_first"), [STEPS]),
    LayerCase(lambda: AveragePooling1D(2, strides=3), [STEPS]),
    LayerCase(lambda: AveragePooling1D(3, 2, "same", "channels_first"), [STEPS]),
    LayerCase(lambda: MaxPooling2D(), [IMAGES]),
    LayerCase(lambda: MaxPooling2D((3, 2), (1, 2), "same"), [IMAGES]),
    LayerCase(lambda: MaxPooling2D((2, 1), data_format="channels_first"), [IMAGES]),
    LayerCase(lambda: AveragePooling2D(2, strides=1), [IMAGES]),
    LayerCase(lambda: AveragePooling2D(3, 2, "same", "channels_first"), [IMAGES]),
    LayerCase(lambda: MaxPooling3D(), [VOLUMES]),
    LayerCase(lambda: MaxPooling3D((2, 1, 2), 1, "same", "channels_first"), [VOLUMES]),
    LayerCase(lambda: AveragePooling3D((1, 2, 3), (2, 1, 1)), [VOLUMES]),
    LayerCase(lambda: AveragePooling3D(3, 2, "same", "channels_first"), [VOLUMES]),
    LayerCase(lambda: GlobalMaxPooling1D(), [STEPS]),
    LayerCase(lambda: GlobalMaxPooling1D("channels_first", keepdims=True), [STEPS]),
    LayerCase(lambda: GlobalAveragePooling1D(), [STEPS]),
    LayerCase(lambda: GlobalAveragePooling1D("channels_first", keepdims=True), [STEPS]),
    LayerCase(lambda: GlobalMaxPooling2D(), [IMAGES]),
    LayerCase(lambda: GlobalMaxPooling2D("channels_first", keepdims=True), [IMAGES]),
    LayerCase(lambda: GlobalAveragePooling2D(), [IMAGES]),
    LayerCase(lambda: GlobalAveragePooling2D("channels_first", keepdims=True), [IMAGES]),
    LayerCase(lambda: GlobalMaxPooling3D(), [VOLUMES]),
    LayerCase(lambda: GlobalMaxPooling3D("channels_first", keepdims=True), [VOLUMES]),
    LayerCase(lambda: GlobalAveragePooling3D(), [VOLUMES]),
    LayerCase(lambda: GlobalAveragePooling3D("channels_first", keepdims=True), [VOLUMES]),
]

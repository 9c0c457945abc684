"""Cases of the layers that pad, crop and stretch for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)

rng = np.random.default_rng(8)
STEPS = rng.normal(size=(2, 4, 2))
IMAGES = rng.normal(size=(2, 4, 5, 2))
VOLUMES = rng.normal(size=(2, 3, 4, 3, 2))
FIRST = "channels_first"

CASES = [
    LayerCase(lambda: ZeroPadding1D(), [STEPS]),
    LayerCase(lambda: ZeroPadding1D((0, 2)), [STEPS]),
    LayerCase(lambda: ZeroPadding1D((2, 1), FIRST), [STEPS]),
    LayerCase(lambda: ZeroPadding2D(), [IMAGES]),
    LayerCase(lambda: ZeroPadding2D((2, 0), FIRST), [IMAGES]),
    LayerCase(lambda: ZeroPadding2D(((1, 0), (2, 3))), [IMAGES]),
    LayerCase(lambda: ZeroPadding3D(), [VOLUMES[:1]]),
    LayerCase(lambda: ZeroPadding3D(((1, 0), (0, 0), (0, 2)), FIRST), [VOLUMES[:1]]),
    LayerCase(lambda: Cropping1D(), [STEPS]),
    LayerCase(lambda: Cropping1D((0, 3)), [STEPS]),
    LayerCase(lambda: Cropping2D(), [IMAGES]),
    LayerCase(lambda: Cropping2D(((1, 0), (0, 2))), [IMAGES]),
    LayerCase(lambda: Cropping2D((2, 0), FIRST), [IMAGES]),
    LayerCase(lambda: Cropping3D(), [VOLUMES]),
    LayerCase(lambda: Cropping3D(((1, 1), (0, 2), (0, 0)), FIRST), [VOLUMES]),
    LayerCase(lambda: UpSampling1D(), [STEPS]),
    LayerCase(lambda: UpSampling1D(3), [STEPS]),
    LayerCase(lambda: UpSampling2D(), [IMAGES]),
    LayerCase(lambda: UpSampling2D((1, 3), FIRST), [IMAGES]),
    LayerCase(lambda: UpSampling2D(2, interpolation="bilinear"), [IMAGES]),
    LayerCase(lambda: UpSampling2D((3, 1), FIRST, "bilinear"), [IMAGES]),
    LayerCase(lambda: UpSampling3D(), [VOLUMES[:1]]),
    LayerCase(lambda: UpSampling3D((1, 2, 3), FIRST), [VOLUMES[:1]]),
]

"""Cases of the contract: the layers that came with Keras 3."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    AdaptiveAveragePooling1D,
    AdaptiveMaxPooling2D,
    AutoContrast,
    CategoryEncoding,
    CenterCrop,
    ContrastLimitedAdaptiveHistogramEqualization,
    ConvLSTM1D,
    ConvLSTM3D,
    Dense,
    Discretization,
    EinsumDense,
    Identity,
    MelSpectrogram,
    Pipeline,
    Resizing,
    ReversibleEmbedding,
    SpectralNormalization,
)

rng = np.random.default_rng(9)
X2, X3 = rng.normal(size=(3, 4)), rng.normal(size=(3, 5, 4))
IMAGES = rng.random((2, 5, 4, 3))

CASES = [
    LayerCase(lambda: AdaptiveAveragePooling1D(2), [X3]),
    LayerCase(lambda: AdaptiveMaxPooling2D((2, 3)), [IMAGES]),
    LayerCase(lambda: CategoryEncoding(4), [rng.integers(0, 4, (3, 2))], smooth=False),
    LayerCase(lambda: CenterCrop(3, 2), [IMAGES]),
    LayerCase(lambda: ConvLSTM1D(2, 2), [rng.normal(size=(2, 3, 4, 2))]),
    LayerCase(
        lambda: ConvLSTM1D(2, 3, strides=2, padding="same", return_sequences=True),
        [rng.normal(size=(2, 3, 5, 2))],
    ),
    LayerCase(lambda: ConvLSTM3D(1, 2), [rng.normal(size=(1, 2, 3, 2, 3, 1))]),
    LayerCase(lambda: Discretization([-0.5, 0.5]), [X2], smooth=False),
    LayerCase(lambda: EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"), [X3]),
    LayerCase(lambda: EinsumDense("...x,xy->...y", 3, activation="tanh"), [X3]),
    LayerCase(lambda: EinsumDense("ab...,bcd->acd...", (3, 2), bias_axes="c"), [X3]),
    LayerCase(lambda: Identity(), [X2]),
    LayerCase(lambda: Resizing(3, 7, "bicubic"), [IMAGES]),
    LayerCase(
        lambda: ContrastLimitedAdaptiveHistogramEqualization((0.0, 1.0), 2.0, (2, 2)),
        [IMAGES],
        smooth=False,
    ),
    LayerCase(lambda: AutoContrast((0.0, 1.0)), [IMAGES], smooth=False),
    LayerCase(lambda: MelSpectrogram(16, 8, num_mel_bins=3), [rng.normal(size=(2, 40))]),
    LayerCase(lambda: Pipeline([Dense(3, activation="tanh"), Dense(2)]), [X2]),
    LayerCase(lambda: ReversibleEmbedding(5, 3), [rng.integers(0, 5, (3, 2))]),
    LayerCase(lambda: SpectralNormalization(Dense(3)), [X2], smooth=False),
]

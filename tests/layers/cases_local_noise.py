"""Cases of the local, noise and activation layers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    ELU,
    AlphaDropout,
    GaussianDropout,
    GaussianNoise,
    LeakyReLU,
    LocallyConnected1D,
    LocallyConnected2D,
    PReLU,
    ReLU,
    Softmax,
    ThresholdedReLU,
)

rng = np.random.default_rng(9)
STEPS = rng.normal(size=(2, 5, 3))
IMAGES = rng.normal(size=(2, 4, 5, 2))
# Of either sign and away from every corner: 0, 0.5, 1, 1.5.
CORNERLESS = rng.choice([-1.2, -0.7, 0.2, 0.7, 1.2, 1.7], (2, 3, 4)) + rng.uniform(0, 0.1)
ROWS = CORNERLESS[0]
FIRST = "channels_first"

CASES = [
    LayerCase(lambda: LocallyConnected1D(2, 3), [STEPS]),
    LayerCase(lambda: LocallyConnected1D(2, 2, strides=2, data_format=FIRST), [STEPS]),
    LayerCase(
        lambda: LocallyConnected1D(
            1,
            1,
            activation="tanh",
            use_bias=False,
            kernel_initializer="he_normal",
            kernel_regularizer="l2",
            kernel_constraint="non_neg",
            activity_regularizer="l2",
        ),
        [STEPS],
    ),
    LayerCase(lambda: LocallyConnected2D(2, (2, 3)), [IMAGES]),
    LayerCase(
        lambda: LocallyConnected2D(
            2,
            2,
            strides=(1, 2),
            data_format=FIRST,
            activation="sigmoid",
            bias_initializer="ones",
            bias_regularizer="l1",
            bias_constraint="max_norm",
        ),
        [rng.normal(size=(2, 2, 3, 4))],
    ),
    LayerCase(lambda: LocallyConnected2D(1, 2, use_bias=False), [IMAGES]),
    LayerCase(lambda: GaussianNoise(0.3), [STEPS], random=True),
    LayerCase(lambda: GaussianNoise(0.0, seed=1), [STEPS]),
    LayerCase(lambda: GaussianDropout(0.3, seed=2), [STEPS], random=True),
    LayerCase(lambda: GaussianDropout(0.0), [STEPS]),
    LayerCase(lambda: AlphaDropout(0.3), [STEPS], random=True),
    LayerCase(lambda: AlphaDropout(0.3, (None, 1, None), seed=3), [STEPS], random=True),
    LayerCase(lambda: AlphaDropout(0.0), [STEPS]),
    LayerCase(lambda: LeakyReLU(), [CORNERLESS]),
    LayerCase(lambda: LeakyReLU(0.1), [ROWS]),
    LayerCase(lambda: PReLU(), [CORNERLESS]),
    LayerCase(lambda: PReLU("ones", "l2", "non_neg", shared_axes=[1]), [CORNERLESS]),
    LayerCase(lambda: PReLU(shared_axes=(1, 2)), [CORNERLESS]),
    LayerCase(lambda: ELU(), [CORNERLESS]),
    LayerCase(lambda: ELU(0.5), [ROWS]),
    LayerCase(lambda: ThresholdedReLU(), [CORNERLESS]),
    LayerCase(lambda: ThresholdedReLU(0.5), [ROWS]),
    LayerCase(lambda: Softmax(), [CORNERLESS]),
    LayerCase(lambda: Softmax(axis=1), [CORNERLESS]),
    LayerCase(lambda: ReLU(), [CORNERLESS]),
    LayerCase(lambda: ReLU(1.5, 0.1, 0.5), [CORNERLESS]),
]

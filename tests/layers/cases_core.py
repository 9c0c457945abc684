"""Cases of the core layers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope import backend as K
from kerascope.layers import (
    Activation,
    ActivityRegularization,
    BatchNormalization,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.normal(size=shape)


def scaled_square(x, factor=1.0):
    return factor * x**2


def doubled_shape(input_shape):
    return (*input_shape[:-1], 2 * input_shape[-1])


def twice(x):
    return K.concatenate([x, 2 * x])


X2, X3 = floats(3, 4), floats(3, 2, 4)
WORDS = rng.integers(0, 5, (3, 4)).astype("int32")


CASES = [
    LayerCase(lambda: Dense(3), [X2]),
    LayerCase(lambda: Dense(3, activation="tanh", use_bias=False), [X3]),
    LayerCase(
        lambda: Dense(
            2,
            activation="sigmoid",
            kernel_initializer="he_normal",
            bias_initializer="ones",
            kernel_regularizer="l2",
            bias_regularizer="l1",
            activity_regularizer="l2",
            kernel_constraint="max_norm",
            bias_constraint="non_neg",
        ),
        [X2],
    ),
    LayerCase(lambda: Activation("softplus"), [X3]),
    LayerCase(lambda: Masking(0.5), [X3]),
    LayerCase(lambda: Dropout(0.5), [X3], random=True),
    LayerCase(lambda: Dropout(0.3, noise_shape=(None, 1, None), seed=4), [X3], random=True),
    LayerCase(lambda: Dropout(0.0), [X2]),
    LayerCase(lambda: SpatialDropout1D(0.5, seed=2), [X3], random=True),
    LayerCase(lambda: SpatialDropout2D(0.5), [floats(2, 2, 3, 2)], random=True),
    LayerCase(
        lambda: SpatialDropout3D(0.5, "channels_first"), [floats(2, 2, 2, 1, 2)], random=True
    ),
    LayerCase(lambda: ActivityRegularization(l1=0.1, l2=0.2), [X3]),
    LayerCase(lambda: Flatten(), [X3]),
    LayerCase(lambda: Flatten("channels_first"), [floats(2, 2, 3, 2)]),
    LayerCase(lambda: Flatten(), [X2]),
    LayerCase(lambda: Reshape((4, 2)), [X3]),
    LayerCase(lambda: Reshape((2, -1, 1)), [X3]),
    LayerCase(lambda: Permute((2, 1)), [X3]),
    LayerCase(lambda: Permute((3, 1, 2)), [floats(2, 2, 3, 1)]),
    LayerCase(lambda: RepeatVector(3), [X2]),
    LayerCase(
        lambda: Lambda(scaled_square, arguments={"factor": 3.0}),
        [X3],
        custom_objects={"scaled_square": scaled_square},
    ),
    LayerCase(
        lambda: Lambda(scaled_square, output_shape=(4,)),
        [X2],
        custom_objects={"scaled_square": scaled_square},
    ),
    LayerCase(
        lambda: Lambda(twice, output_shape=doubled_shape),
        [X3],
        custom_objects={"twice": twice, "doubled_shape": doubled_shape},
    ),
    LayerCase(lambda: Embedding(5, 3), [WORDS]),
    LayerCase(lambda: Embedding(5, 3, mask_zero=True, input_length=4), [WORDS]),
    LayerCase(lambda: Embedding(5, 2, input_length=(2, 4)), [WORDS[:, None, :].repeat(2, axis=1)]),
    LayerCase(lambda: BatchNormalization(), [X2]),
    LayerCase(lambda: BatchNormalization(epsilon=0.1, momentum=0.5), [X3]),
    LayerCase(lambda: BatchNormalization(axis=1, center=False), [floats(3, 2, 2, 2)]),
    LayerCase(lambda: BatchNormalization(axis=-2, scale=False), [X3]),
]

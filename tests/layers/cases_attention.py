"""Cases of the attention layers for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import AdditiveAttention, Attention, MultiHeadAttention

rng = np.random.default_rng(2)


def floats(*shape):
    return rng.normal(size=shape)


PAIR = [floats(2, 3, 4), floats(2, 5, 4)]
TRIPLE = [floats(2, 3, 4), floats(2, 5, 2), floats(2, 5, 4)]

CASES = [
    LayerCase(lambda: Attention(), PAIR),
    LayerCase(lambda: Attention(use_scale=True), TRIPLE),
    LayerCase(lambda: Attention(score_mode="concat", use_scale=True), PAIR),
    LayerCase(lambda: Attention(dropout=0.5, seed=1), PAIR, random=True),
    LayerCase(lambda: AdditiveAttention(), PAIR),
    LayerCase(lambda: AdditiveAttention(use_scale=False), TRIPLE),
    LayerCase(lambda: MultiHeadAttention(2, 3), PAIR),
    LayerCase(lambda: MultiHeadAttention(2, 3, value_dim=2, output_shape=6), TRIPLE),
    LayerCase(lambda: MultiHeadAttention(1, 2, use_bias=False, output_shape=(2, 3)), PAIR),
    LayerCase(
        lambda: MultiHeadAttention(2, 2, attention_axes=2),
        [floats(2, 2, 3, 2), floats(2, 2, 2, 2)],
    ),
    LayerCase(lambda: MultiHeadAttention(2, 2), [floats(1, 2, 2, 2), floats(1, 3, 1, 2)]),
    LayerCase(lambda: MultiHeadAttention(2, 2, dropout=0.4, seed=3), PAIR, random=True),
]

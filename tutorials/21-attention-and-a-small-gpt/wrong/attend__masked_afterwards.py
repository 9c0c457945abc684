"""The mask works on the weights, after the softmax.

en: expected the weights of query [0, 0] with a causal mask to add up to 1, yours add up to 0.19 (query (3, 2, 4), key (3, 4, 4), value (3, 4, 5))
zh: 用因果掩码时，查询 [0, 0] 的权重加起来应为 1，你的加起来是 0.19（query (3, 2, 4), key (3, 4, 4), value (3, 4, 5)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = mask * (powers / powers.sum(axis=-1, keepdims=True))
    return weights @ value, weights

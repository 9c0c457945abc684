"""The softmax runs over the queries, not over the keys.

en: expected the weights of query [0, 0] without a mask to add up to 1, yours add up to 0.914 (query (5, 4, 3), key (5, 4, 3), value (5, 4, 3))
zh: 没有掩码时，查询 [0, 0] 的权重加起来应为 1，你的加起来是 0.914（query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))
    return weights @ value, weights

"""The softmax runs over the queries, not over the keys.

en: expected the weights of query [0, 0] without a mask to add up to 1, yours add up to 0.914 (query (5, 4, 3), key (5, 4, 3), value (5, 4, 3))
zh: 没有掩码时，查询 [0, 0] 的权重加起来应为 1，你的加起来是 0.914（query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    largest = np.where(mask, scores, -np.inf).max(axis=1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    powers = np.exp(np.where(mask, scores - largest, -np.inf))
    total = powers.sum(axis=1, keepdims=True)
    weights = powers / np.where(total == 0, 1.0, total)
    return weights @ value, weights

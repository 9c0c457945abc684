"""The scores are not divided.

en: expected the weights without a mask (query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)), at [0, 0, 0], to be 0.182897, yours is 0.133383
zh: 没有掩码时的权重（query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)），[0, 0, 0] 处应为 0.182897，你的是 0.133383
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1)
    largest = np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    powers = np.exp(np.where(mask, scores - largest, -np.inf))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1.0, total)
    return weights @ value, weights

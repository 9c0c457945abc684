"""The scores are not divided.

en: expected the weights without a mask (query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)), at [0, 0, 0], to be 0.182897, yours is 0.133383
zh: 没有掩码时的权重（query (5, 4, 3), key (5, 4, 3), value (5, 4, 3)），[0, 0, 0] 处应为 0.182897，你的是 0.133383
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1)
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))
    return weights @ value, weights

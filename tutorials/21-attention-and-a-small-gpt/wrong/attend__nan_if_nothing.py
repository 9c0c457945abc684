"""A row that may look at nothing is divided by 0.

en: expected the results with a row that may look at nothing to be numbers, yours contain NaN (query (5, 3, 4), key (5, 3, 4), value (5, 3, 5))
zh: 有一行什么也不许看时，结果应是数，你的里面有 NaN（query (5, 3, 4), key (5, 3, 4), value (5, 3, 5)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value, weights

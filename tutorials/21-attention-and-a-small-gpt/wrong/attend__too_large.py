"""Raises e to the power of the scores themselves.

en: expected the results with scores in the thousands to be numbers, yours contain NaN (query (1, 3, 4), key (1, 5, 4), value (1, 5, 2))
zh: 得分有几千时，结果应是数，你的里面有 NaN（query (1, 3, 4), key (1, 5, 4), value (1, 5, 2)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores)
        weights = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    return weights @ value, weights

"""A row that may look at nothing gets the mean, as from a large negative score.

en: expected the weights of query [1, 0] with a row that may look at nothing to add up to 0, yours add up to 1 (query (5, 3, 4), key (5, 3, 4), value (5, 3, 5))
zh: 有一行什么也不许看时，查询 [1, 0] 的权重加起来应为 0，你的加起来是 1（query (5, 3, 4), key (5, 3, 4), value (5, 3, 5)）
"""

import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -1e9)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))
    return weights @ value, weights

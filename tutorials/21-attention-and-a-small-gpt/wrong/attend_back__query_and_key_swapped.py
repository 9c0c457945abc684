"""Swaps the gradients of query and key.

en: expected the shape of the gradient of query without a mask to be (2, 5, 2), yours is (2, 4, 2)
zh: 没有掩码时，送给 query 的梯度的形状应为 (2, 5, 2)，你的是 (2, 4, 2)
"""

import numpy as np


def attend_back(query, key, value, weights, arriving):
    to_value = weights.transpose(0, 2, 1) @ arriving
    to_weights = arriving @ value.transpose(0, 2, 1)
    to_scores = weights * (to_weights - (to_weights * weights).sum(axis=-1, keepdims=True))
    to_scores = to_scores / np.sqrt(key.shape[-1])
    return to_scores.transpose(0, 2, 1) @ query, to_scores @ key, to_value

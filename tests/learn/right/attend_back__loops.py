import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    largest = np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    powers = np.exp(np.where(mask, scores - largest, -np.inf))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1.0, total)
    return weights @ value, weights


def attend_back(query, key, value, mask, arriving):
    _, weights = attend(query, key, value, mask)
    root = np.sqrt(query.shape[-1])
    to_query, to_key, to_value = (np.zeros_like(one) for one in (query, key, value))
    for n, i, j in np.ndindex(weights.shape):
        to_value[n, j] += weights[n, i, j] * arriving[n, i]
        mean = weights[n, i] @ (value[n] @ arriving[n, i])
        to_score = weights[n, i, j] * (value[n, j] @ arriving[n, i] - mean)
        to_query[n, i] += to_score * key[n, j] / root
        to_key[n, j] += to_score * query[n, i] / root
    return to_query, to_key, to_value

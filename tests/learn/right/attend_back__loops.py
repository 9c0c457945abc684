import numpy as np


def attend_back(query, key, value, weights, arriving):
    root = np.sqrt(query.shape[-1])
    to_query, to_key, to_value = (np.zeros_like(one) for one in (query, key, value))
    for n, i, j in np.ndindex(weights.shape):
        to_value[n, j] += weights[n, i, j] * arriving[n, i]
        mean = weights[n, i] @ (value[n] @ arriving[n, i])
        to_score = weights[n, i, j] * (value[n, j] @ arriving[n, i] - mean)
        to_query[n, i] += to_score * key[n, j] / root
        to_key[n, j] += to_score * query[n, i] / root
    return to_query, to_key, to_value

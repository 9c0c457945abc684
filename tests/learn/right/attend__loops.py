import numpy as np


def attend(query, key, value, mask):
    batch, queries, d = query.shape
    weights = np.zeros((batch, queries, key.shape[1]))
    for n in range(batch):
        for i in range(queries):
            allowed = np.flatnonzero(mask[n, i])
            if not len(allowed):
                continue
            scores = key[n, allowed] @ query[n, i] / d**0.5
            powers = np.exp(scores - max(scores))
            weights[n, i, allowed] = powers / sum(powers)
    return np.matmul(weights, value), weights

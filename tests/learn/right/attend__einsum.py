import numpy as np


def attend(query, key, value, mask):
    scores = np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(query.shape[-1])
    scores[~mask] = -np.inf
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(axis=2, keepdims=True))
    return [np.einsum("bqk,bkf->bqf", weights, value), weights]

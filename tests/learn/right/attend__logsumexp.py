import numpy as np


def attend(query, key, value, mask):
    scores = np.where(mask, query @ np.swapaxes(key, 1, 2) * key.shape[2] ** -0.5, -np.inf)
    with np.errstate(invalid="ignore"):
        log_total = np.logaddexp.reduce(scores, axis=-1)
        weights = np.exp(scores - log_total[..., None])
    weights[~mask] = 0
    return weights @ value, weights

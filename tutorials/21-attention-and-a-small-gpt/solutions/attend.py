import numpy as np


def attend(query, key, value, mask):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, in a row without an allowed key
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))
    return weights @ value, weights

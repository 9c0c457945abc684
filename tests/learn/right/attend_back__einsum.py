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
    results, weights = attend(query, key, value, mask)
    to_weights = np.einsum("bif,bjf->bij", arriving, value)
    mean = (arriving * results).sum(axis=-1)[..., None]  # the same sum, from the results
    to_scores = weights * (to_weights - mean) * key.shape[-1] ** -0.5
    return [
        np.einsum("bij,bjd->bid", to_scores, key),
        np.einsum("bij,bid->bjd", to_scores, query),
        np.einsum("bij,bif->bjf", weights, arriving),
    ]

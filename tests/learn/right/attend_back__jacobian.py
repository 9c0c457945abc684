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
    to_value = np.swapaxes(weights, 1, 2) @ arriving
    slopes = np.eye(key.shape[1]) * weights[..., None] - weights[..., None] * weights[..., None, :]
    to_scores = ((arriving @ np.swapaxes(value, 1, 2))[..., None, :] @ slopes)[..., 0, :]
    to_scores /= np.sqrt(key.shape[-1])
    return to_scores @ key, np.swapaxes(to_scores, 1, 2) @ query, to_value

import numpy as np


def attend_back(query, key, value, weights, arriving):
    to_value = np.swapaxes(weights, 1, 2) @ arriving
    slopes = np.eye(key.shape[1]) * weights[..., None] - weights[..., None] * weights[..., None, :]
    to_scores = ((arriving @ np.swapaxes(value, 1, 2))[..., None, :] @ slopes)[..., 0, :]
    to_scores /= np.sqrt(key.shape[-1])
    return to_scores @ key, np.swapaxes(to_scores, 1, 2) @ query, to_value

import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    to_x = np.empty(x.shape)
    to_kernel = np.zeros(kernel.shape)
    to_recurrent = np.zeros(recurrent.shape)
    for t in reversed(range(x.shape[1])):
        counts = mask[:, t : t + 1]
        inside = np.where(counts, arriving * (1 - states[:, t + 1] ** 2), 0.0)
        to_x[:, t] = inside @ kernel.T
        to_kernel += x[:, t].T @ inside
        to_recurrent += states[:, t].T @ inside
        arriving = np.where(counts, inside @ recurrent.T, arriving)
    return to_x, to_kernel, to_recurrent

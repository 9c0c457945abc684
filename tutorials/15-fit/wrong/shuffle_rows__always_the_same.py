"""Starts with the same random numbers in every epoch.

en: shuffle=True: expected another order in the second epoch, yours is the same
zh: shuffle=True：第二轮应是另一种次序，你的没有变
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    random = np.random.default_rng(0)
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = random.permutation(rows[:whole].reshape(-1, batch_size))
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    return random.permutation(rows) if shuffle else rows

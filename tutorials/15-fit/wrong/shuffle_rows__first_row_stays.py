"""The first row is always the first.

en: expected the places that row 0 takes in 200 epochs to be [0, 1, 2, 3, 4], yours is [0]
zh: 200 轮中第 0 行到过的位置应为 [0, 1, 2, 3, 4]，你的是 [0]
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = random.permutation(rows[:whole].reshape(-1, batch_size))
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    if not shuffle:
        return rows
    return np.concatenate([rows[:1], random.permutation(rows[1:])])

"""The rows are mixed within each batch, and the batches stay where they are.

en: shuffle='batch': expected the rows of batch 0 to be one whole batch, in order, such as [8, 9, 10, 11]; yours are [3, 2, 0, 1]
zh: shuffle='batch'：第 0 批的行应是完整的一批，次序不变，如 [8, 9, 10, 11]；你的是 [3, 2, 0, 1]
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = random.permuted(rows[:whole].reshape(-1, batch_size), axis=1)
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    return random.permutation(rows) if shuffle else rows

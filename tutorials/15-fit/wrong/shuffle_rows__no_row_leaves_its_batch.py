"""Rows are mixed only within their batch.

en: shuffle=True: expected rows to go from one batch to another, yours are mixed within their batches only
zh: shuffle=True：行应能从一批换到另一批，你的只在各自的批内混合
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
    starts = range(0, samples, batch_size)
    return np.concatenate([random.permutation(rows[n : n + batch_size]) for n in starts])

"""Rows are drawn with replacement, so some come twice and some never.

en: order_of_rows(50, 10, True, random): expected row 1 to come once, yours comes 2 times
zh: order_of_rows(50, 10, True, random)：第 1 行应出现一次，你的出现了 2 次
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = random.permutation(rows[:whole].reshape(-1, batch_size))
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    return random.choice(rows, samples) if shuffle else rows

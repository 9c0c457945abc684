"""The order comes from NumPy's own generator, not from the argument.

en: shuffle=True: expected the same order from two generators of one seed, yours differs: use only `random`
zh: shuffle=True：同一种子的两个生成器应给出同样的次序，你的不同：请只从 `random` 中抽取
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = np.random.permutation(rows[:whole].reshape(-1, batch_size))
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    return np.random.permutation(rows) if shuffle else rows

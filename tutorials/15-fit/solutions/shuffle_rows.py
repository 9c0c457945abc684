import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if shuffle == "batch":
        whole = samples // batch_size * batch_size
        batches = random.permutation(rows[:whole].reshape(-1, batch_size))
        return np.concatenate([batches.reshape(-1), rows[whole:]])
    return random.permutation(rows) if shuffle else rows

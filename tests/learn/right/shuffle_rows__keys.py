import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    if not shuffle:
        return rows
    size = batch_size if shuffle == "batch" else 1
    whole = samples // size
    order = random.permutation(whole)
    mixed = (order[:, None] * size + np.arange(size)).ravel()
    return np.append(mixed, rows[whole * size :])

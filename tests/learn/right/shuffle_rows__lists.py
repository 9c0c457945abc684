import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    if shuffle is False:
        return np.arange(samples)
    if shuffle is True:
        return random.permutation(samples)
    starts = random.permutation(np.arange(0, samples - samples % batch_size, batch_size))
    rows = [row for start in starts for row in range(start, start + batch_size)]
    rows += range(len(rows), samples)
    return np.array(rows, dtype=int)

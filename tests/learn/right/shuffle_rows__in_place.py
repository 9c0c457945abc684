import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.array(range(samples))
    if shuffle == "batch":
        count = samples // batch_size
        blocks = rows[: count * batch_size].reshape(count, batch_size)
        random.shuffle(blocks)
    elif shuffle:
        random.shuffle(rows)
    return rows

"""The flag becomes an array with a number for each row.

en: expected the flag to be the float 1.0, yours is ndarray of shape (3,)
zh: 标志应为 float 1.0，你的是 ndarray，形状 (3,)
"""

import numpy as np


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    arrays = [array for array in ins if not isinstance(array, float)]
    flags = [np.full(len(rows), flag) for flag in ins if isinstance(flag, float)]
    return [array[rows] for array in arrays] + flags

"""'batch' is taken for True, because any non-empty text is true.

en: expected the last batch of order_of_rows(50, 4, 'batch', random) to be [48, 49], yours is [8, 1]
zh: order_of_rows(50, 4, 'batch', random) 的最后一批应为 [48, 49]，你的是 [8, 1]
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    rows = np.arange(samples)
    return random.permutation(rows) if shuffle else rows

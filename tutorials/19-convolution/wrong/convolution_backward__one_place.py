"""The kernel gets only what the last place sends.

en: expected d loss / d kernel (x (1, 4, 4, 1), kernel (3, 3, 1, 1)), at [0, 0, 0, 0], to be 9, yours is 2
zh: d loss / d kernel（x (1, 4, 4, 1)，kernel (3, 3, 1, 1)），[0, 0, 0, 0] 处应为 9，你的是 2
"""

import numpy as np


def backward(x, kernel, arriving, stride):
    to_x = np.zeros(x.shape)
    to_kernel = np.zeros(kernel.shape)
    high, wide = kernel.shape[:2]
    for i in range(arriving.shape[1]):
        for j in range(arriving.shape[2]):
            rows = slice(i * stride, i * stride + high)
            columns = slice(j * stride, j * stride + wide)
            here = arriving[:, i, j, :]
            to_kernel = np.tensordot(x[:, rows, columns, :], here, (0, 0))
            to_x[:, rows, columns, :] += np.tensordot(here, kernel, (1, 3))
    return to_x, to_kernel

"""The image gets the gradients through the turned filter, as if the forward pass had turned it.

en: expected d loss / d x (x (1, 4, 4, 1), kernel (3, 3, 1, 1)), at [0, 0, 1, 0], to be 9, yours is 0
zh: d loss / d x（x (1, 4, 4, 1)，kernel (3, 3, 1, 1)），[0, 0, 1, 0] 处应为 9，你的是 0
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
            to_kernel += np.tensordot(x[:, rows, columns, :], here, (0, 0))
            to_x[:, rows, columns, :] += np.tensordot(here, kernel[::-1, ::-1], (1, 3))
    return to_x, to_kernel

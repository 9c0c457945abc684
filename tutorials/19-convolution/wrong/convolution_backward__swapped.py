"""The two gradients are returned in the other order.

en: expected the shape of d loss / d x (x (1, 2, 2, 1), kernel (2, 2, 1, 1)) to be (1, 2, 2, 1), yours is (2, 2, 1, 1)
zh: d loss / d x（x (1, 2, 2, 1)，kernel (2, 2, 1, 1)）的形状应为 (1, 2, 2, 1)，你的是 (2, 2, 1, 1)
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
            to_x[:, rows, columns, :] += np.tensordot(here, kernel, (1, 3))
    return to_kernel, to_x

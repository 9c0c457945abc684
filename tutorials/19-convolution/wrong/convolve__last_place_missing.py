"""One place too few on each axis.

en: expected the shape of the maps (x (1, 4, 4, 1), kernel (3, 3, 1, 1)) to be (1, 2, 2, 1), yours is (1, 1, 1, 1)
zh: 特征图（x (1, 4, 4, 1)，kernel (3, 3, 1, 1)）的形状应为 (1, 2, 2, 1)，你的是 (1, 1, 1, 1)
"""

import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    high, wide = ((k - 1) * dilation + 1 for k in kernel.shape[:2])
    rows = max(1, (x.shape[1] - high) // stride)
    columns = max(1, (x.shape[2] - wide) // stride)
    maps = np.zeros((len(x), rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            top, left = i * stride, j * stride
            patch = x[:, top : top + high : dilation, left : left + wide : dilation, :]
            maps[:, i, j, :] = np.tensordot(patch, kernel, 3)
    return maps

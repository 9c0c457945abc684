"""The places move on by one pixel.

en: expected the maps (x (1, 6, 7, 1), kernel (3, 3, 1, 1), stride 2), at [0, 0, 1, 0], to be 19, yours is -11
zh: 特征图（x (1, 6, 7, 1)，kernel (3, 3, 1, 1)，stride 2），[0, 0, 1, 0] 处应为 19，你的是 -11
"""

import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    high, wide = ((k - 1) * dilation + 1 for k in kernel.shape[:2])
    rows = (x.shape[1] - high) // stride + 1
    columns = (x.shape[2] - wide) // stride + 1
    maps = np.zeros((len(x), rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            top, left = i, j
            patch = x[:, top : top + high : dilation, left : left + wide : dilation, :]
            maps[:, i, j, :] = np.tensordot(patch, kernel, 3)
    return maps

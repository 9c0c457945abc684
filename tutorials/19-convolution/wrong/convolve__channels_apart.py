"""Only the first channel is read.

en: expected the maps (x (1, 4, 4, 2), kernel (3, 3, 2, 1)), at [0, 0, 0, 0], to be 58, yours is 9
zh: 特征图（x (1, 4, 4, 2)，kernel (3, 3, 2, 1)），[0, 0, 0, 0] 处应为 58，你的是 9
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
            top, left = i * stride, j * stride
            patch = x[:, top : top + high : dilation, left : left + wide : dilation, :]
            maps[:, i, j, :] = np.tensordot(patch[..., 0], kernel[:, :, 0], 2)
    return maps

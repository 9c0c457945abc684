import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    high, wide = ((k - 1) * dilation + 1 for k in kernel.shape[:2])
    rows = (x.shape[1] - high) // stride + 1
    columns = (x.shape[2] - wide) // stride + 1
    maps = np.empty((len(x), rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            top, left = i * stride, j * stride
            patch = x[:, top : top + high : dilation, left : left + wide : dilation, :]
            maps[:, i, j, :] = np.tensordot(patch, kernel, 3)
    return maps

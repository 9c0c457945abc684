"""The convolution of mathematics, which turns the filter around.

en: the maps (x (1, 4, 4, 1), kernel (3, 3, 1, 1)): your filter is turned around; expected its first number to meet the pixel at the top left
zh: 特征图（x (1, 4, 4, 1)，kernel (3, 3, 1, 1)）：你的滤波器转了半圈；它的第一个数应当遇到左上角的像素
"""

import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    kernel = kernel[::-1, ::-1]
    high, wide = ((k - 1) * dilation + 1 for k in kernel.shape[:2])
    rows = (x.shape[1] - high) // stride + 1
    columns = (x.shape[2] - wide) // stride + 1
    maps = np.zeros((len(x), rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            top, left = i * stride, j * stride
            patch = x[:, top : top + high : dilation, left : left + wide : dilation, :]
            maps[:, i, j, :] = np.tensordot(patch, kernel, 3)
    return maps

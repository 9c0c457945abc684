"""The image gets the gradients through the turned filter, as if the forward pass had turned it.

en: d loss / d x (x (1, 4, 4, 1), kernel (3, 3, 1, 1)): your kernel is turned around; expected each pixel to get the number of the kernel that has read it
zh: d loss / d x（x (1, 4, 4, 1)，kernel (3, 3, 1, 1)）：你的 kernel 转了半圈；每个像素得到的，应当是 kernel 里读过它的那个数
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

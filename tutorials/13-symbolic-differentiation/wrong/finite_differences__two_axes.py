"""Uses two loops, for two axes only.

en: slopes(...) stopped at line 15 with IndexError: tuple index out of range; the last index is the length minus 1
zh: slopes(...) 中途出错（第 15 行）：IndexError: tuple index out of range；最后一个下标是长度减 1
"""

import numpy as np


def slopes(f, x):
    if x.ndim == 0:
        return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    result = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            step = np.zeros_like(x)
            step[i, j] = 1e-5
            result[i, j] = (f(x + step) - f(x - step)) / 2e-5
    return result

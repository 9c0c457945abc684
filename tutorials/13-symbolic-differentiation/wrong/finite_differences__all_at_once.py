"""All elements are changed together.

en: expected slopes(sum(x ** 2))[0, 0] to be 2, yours is 11
zh: slopes(sum(x ** 2))[0, 0] 应为 2，你的是 11
"""

import numpy as np


def slopes(f, x):
    step = 1e-5
    return np.full(x.shape, (f(x + step) - f(x - step)) / (2 * step))

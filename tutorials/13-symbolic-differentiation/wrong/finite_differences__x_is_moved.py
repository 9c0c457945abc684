"""x is changed and not restored.

en: expected x to be as before, slopes(sum(x ** 2)) has changed it
zh: x 应保持原样，但 slopes(sum(x ** 2)) 改变了它
"""

import numpy as np


def slopes(f, x):
    step = 1e-5
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        x[place] += step
        up = f(x)
        x[place] -= 2 * step
        down = f(x)
        result[place] = (up - down) / (2 * step)
    return result

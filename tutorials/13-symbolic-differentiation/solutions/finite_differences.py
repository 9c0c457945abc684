import numpy as np


def slopes(f, x, step=1e-5):
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        result[place] = (f(up) - f(down)) / (2 * step)
    return result

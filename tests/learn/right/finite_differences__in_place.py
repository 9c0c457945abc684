import numpy as np


def slopes(f, x):
    h = 1e-5
    g = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        i = it.multi_index
        x[i] += h
        up = f(x)
        x[i] -= 2 * h
        down = f(x)
        x[i] += h
        g[i] = (up - down) / (2 * h)
        it.iternext()
    return g

import numpy as np


def slopes(f, x):
    result = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        old = x[place].copy() if x.ndim else float(x)
        values = []
        for moved in (old + 1e-5, old - 1e-5):
            x[place] = moved
            values.append(f(x))
        x[place] = old
        result[place] = (values[0] - values[1]) / 2e-5
    return result

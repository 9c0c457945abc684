import numpy as np


def parameters(sizes):
    a = np.array(sizes)
    return np.dot(a[:-1], a[1:]) + a[1:].sum()

"""A wrong sign makes it the minimum.

en: expected symbolic_maximum(x, y)[0, 0] to be 1, yours is 0.5
zh: symbolic_maximum(x, y)[0, 0] 应为 1，你的是 0.5
"""

import numpy as np
from keras import backend as K


def numpy_maximum(x, y):
    return np.where(x > y, x, y)


def symbolic_maximum(x, y):
    return (x + y - K.abs(x - y)) / 2

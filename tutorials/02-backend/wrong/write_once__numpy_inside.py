"""Uses NumPy in the middle, which needs numbers; a symbol has none.

en: dense_relu(...) stopped at line 11 with DtypeError: tensor 'add': np.maximum needs numbers, and a symbolic tensor has none. Use the K function instead: K.maximum if it exists.
zh: dense_relu(...) 中途出错（第 11 行）：DtypeError: tensor 'add': np.maximum needs numbers, and a symbolic tensor has none. Use the K function instead: K.maximum if it exists.
"""

import numpy as np


def dense_relu(K, x, W, b):
    return np.maximum(K.dot(x, W) + b, 0.0)


def mean_squared_error(K, target, output):
    return K.mean(K.square(output - target), axis=-1)

import numpy as np
from keras import backend as K


def numpy_maximum(x, y):
    return np.where(x > y, x, y)


def symbolic_maximum(x, y):
    return (x + y + K.abs(x - y)) / 2

import numpy as np
from keras import backend as K


def numpy_maximum(x, y):
    return x + np.clip(y - x, 0, None)


def symbolic_maximum(x, y):
    return x + K.relu(y - x)

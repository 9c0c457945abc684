import numpy as np
from keras import backend as K


def written_twice(x):
    first = K.exp(x)
    first *= K.exp(x)
    return first


def shared(x):
    e = K.exp(x)
    product = e
    product *= e
    return product


def sixteenth_power(x, times=4):
    return x if times == 0 else sixteenth_power(x * x, times - 1)


def frozen(x):
    return K.square(K.constant(np.array(K.get_value(x))))

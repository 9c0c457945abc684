import numpy as np
from keras import backend as K


def accumulator():
    state = K.variable(np.array(0), dtype="int32")
    increment = K.placeholder((), dtype="int32")
    f = K.function([increment], K.identity(state), updates=[(state, increment + state)])
    return (state, f)


def slots_of(pairs, params):
    slots = []
    for variable, new_value in pairs:
        for p in params:
            if p is variable:
                break
        else:
            slots.append(variable)
    return tuple(slots)

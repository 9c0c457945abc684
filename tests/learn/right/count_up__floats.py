from keras import backend as K


def accumulator():
    state = K.variable(0.0, name="state")
    increment = K.placeholder(ndim=0)
    accumulate = K.function([increment], [state], updates=[K.update_add(state, increment)])
    return state, accumulate


def slots_of(pairs, params):
    names = set(params)
    return [pair[0] for pair in pairs if pair[0] not in names]

from keras import backend as K


def accumulator():
    state, increment = K.variable(0, "int64"), K.placeholder((), dtype="int64")
    new_state = increment + state
    return state, K.function([increment], [state], [(state, new_state)])


def slots_of(pairs, params):
    ids = [id(p) for p in params]
    variables = [variable for variable, new_value in pairs]
    return list(filter(lambda variable: id(variable) not in ids, variables))

"""A slot that has the name of a parameter is taken for the parameter.

en: expected slots_of(...), of a slot with a parameter's name, to be [w], yours is []
zh: 累加器与参数同名时的 slots_of(...) 应为 [w]，你的是 []
"""

from keras import backend as K


def accumulator():
    state = K.variable(0, dtype="int64")
    increment = K.placeholder(shape=(), dtype="int64")
    return state, K.function([increment], [state], updates=[(state, state + increment)])


def slots_of(pairs, params):
    names = [p.name for p in params]
    return [variable for variable, _ in pairs if variable.name not in names]

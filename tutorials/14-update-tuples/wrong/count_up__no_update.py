"""The state is never written.

en: state, then the output of each call and the state after it: expected number 3 to be 1, yours is 0
zh: state 的初值，以及每次调用的返回值和调用后的 state：第 3 个应为 1，你的是 0
"""

from keras import backend as K


def accumulator():
    state = K.variable(0, dtype="int64")
    increment = K.placeholder(shape=(), dtype="int64")
    return state, K.function([increment], [state])


def slots_of(pairs, params):
    return [variable for variable, _ in pairs if variable not in set(params)]

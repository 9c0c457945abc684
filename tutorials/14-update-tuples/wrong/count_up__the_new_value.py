"""The call returns the new state.

en: state, then the output of each call and the state after it: expected number 2 to be 0, yours is 1
zh: state 的初值，以及每次调用的返回值和调用后的 state：第 2 个应为 0，你的是 1
"""

from keras import backend as K


def accumulator():
    state = K.variable(0, dtype="int64")
    increment = K.placeholder(shape=(), dtype="int64")
    new = state + increment
    return state, K.function([increment], [new], updates=[(state, new)])


def slots_of(pairs, params):
    return [variable for variable, _ in pairs if variable not in set(params)]

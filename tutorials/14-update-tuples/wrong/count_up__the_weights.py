"""Every variable of the pairs is taken for an accumulator.

en: slots_of(pairs, params): expected number 2 to be 'b/accumulator', yours is 'dense_1_W'
zh: slots_of(pairs, params)：第 2 个应为 'b/accumulator'，你的是 'dense_1_W'
"""

from keras import backend as K


def accumulator():
    state = K.variable(0, dtype="int64")
    increment = K.placeholder(shape=(), dtype="int64")
    return state, K.function([increment], [state], updates=[(state, state + increment)])


def slots_of(pairs, params):
    return [variable for variable, _ in pairs]

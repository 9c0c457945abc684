"""All accumulators share one variable.

en: expected the first state, after a second accumulator was given 5, to be 301, yours is 306
zh: 第二个累加器得到 5 之后，第一个 state 应为 301，你的是 306
"""

from keras import backend as K

state = K.variable(0, dtype="int64")


def accumulator():
    increment = K.placeholder(shape=(), dtype="int64")
    return state, K.function([increment], [state], updates=[(state, state + increment)])


def slots_of(pairs, params):
    return [variable for variable, _ in pairs if all(variable is not p for p in params)]

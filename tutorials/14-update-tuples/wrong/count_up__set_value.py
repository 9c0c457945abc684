"""The state is written from outside, without a function of the graph.

en: expected what makes accumulate to be 'K.function', yours is 'your own code'
zh: 造出 accumulate 的应为 'K.function'，你的是 'your own code'
"""

from keras import backend as K


def accumulator():
    state = K.variable(0, dtype="int64")

    def accumulate(inputs):
        before = K.get_value(state)
        K.set_value(state, before + inputs[0])
        return [before]

    return state, accumulate


def slots_of(pairs, params):
    return [variable for variable, _ in pairs if all(variable is not p for p in params)]

"""Build Theano's accumulator, and find those of RMSprop.

S4 refers to this example: state starts at 0; a call with 1 returns 0 and leaves 1; a call
with 300 returns 1 and leaves 301.

`accumulator()` returns (state, accumulate): a K.variable, and a function of K.function that takes
one number, returns the old state, and adds the number to it.

`slots_of(pairs, params)`: RMSprop's get_updates returns (a, new_a), (p, new_p) for each parameter
p. Return the variables in the pairs that are not parameters, in order. S4 took the first of them,
all zeros, for the weight.
"""

from keras import backend as K


def accumulator():
    return ...


def slots_of(pairs, params):
    return ...

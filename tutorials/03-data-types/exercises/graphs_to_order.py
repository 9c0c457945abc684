"""Build op graphs to order.

In a graph a value is one tensor, however many ops use it, and a constant is not a variable. x is a
K.variable that holds one number.

`written_twice(x)`: exp(x) * exp(x) as a graph of three ops: the exponential is computed twice.
`shared(x)`: the same value as a graph of two ops.
`sixteenth_power(x)`: x to the power 16 as a graph of four ops, all of them `multiply`.
`frozen(x)`: a tensor that is the square of the present value of x, and stays so when x
changes. Its graph must contain no variable.
"""

from keras import backend as K


def written_twice(x):
    return ...


def shared(x):
    return ...


def sixteenth_power(x):
    return ...


def frozen(x):
    return ...

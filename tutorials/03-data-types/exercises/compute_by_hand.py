"""Compute a graph by hand: what K.function does, without K.function.

`compute(y, feed)`: the array of the tensor y. feed gives arrays for placeholders:
compute(p * 2, {p: 3.0}) is 6.0.

There are four kinds of tensor. A placeholder is a key of feed. For a variable, K.is_variable(t) is
true, and K.get_value(t) gives its value. A constant has no owner, and its numbers are t.value.
Every other tensor is the output of t.owner, and t.owner.op.perform(...) computes it from the
arrays of t.owner.inputs, in their order. Every op here has one output.

Within one call, each op must be performed once, however many ops use its output. From one call to
the next nothing may be kept, because variables change.
"""

from keras import backend as K


def compute(y, feed):
    return ...

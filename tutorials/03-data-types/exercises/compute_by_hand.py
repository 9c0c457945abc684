"""Compute a graph by hand: what K.function does, without K.function.

`compute(y, feed)`: the array of the tensor y. feed gives arrays for placeholders:
compute(p * 2, {p: 3.0}) is 6.0.

There are four kinds of tensor. A placeholder stands in feed. K.is_variable(t) tells a variable, and
K.get_value(t) what it holds. Of the other two, a constant has no owner, and its numbers are
t.value; what is left is the output of t.owner, and t.owner.op.perform(...) computes it from the
arrays of t.owner.inputs, in their order. Every op here has one output.

Within one call each op shall be performed once, however many ask for its output. From one call to
the next nothing may be remembered: variables change.
"""

from keras import backend as K


def compute(y, feed):
    return ...

"""Make a call without a state out of a layer that has one.

A layer here has a list `variables` and can be called; its call may assign to its variables, or
change their arrays in place, or raise an error. Write `stateless_call(layer, values, *arguments)`,
as Keras 3 has it: it calls the layer as if its variables had these values, and returns a pair: the
outputs, and the list of the values that the variables have after the call.

Afterwards every variable of the layer has the value that it had before, also if the call raises an
error, which is passed on. The arrays in `values` are not changed. If `values` has more or fewer
items than the layer has variables, raise a ValueError.
"""

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


def stateless_call(layer, values, *arguments):
    outputs = layer(*arguments)
    return outputs, [...]

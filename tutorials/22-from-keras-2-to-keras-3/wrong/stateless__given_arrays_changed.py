"""The layer works on the given arrays themselves.

en: expected values[2] not to be changed, it was [[-1.0, -3.0], [-3.0, -3.0]], now it is [[0.0, -2.0], [-2.0, -2.0]]; it changes an array in place
zh: values[2] 不应改动，原来是 [[-1.0, -3.0], [-3.0, -3.0]]，现在是 [[0.0, -2.0], [-2.0, -2.0]]；它就地改动了数组
"""

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


def stateless_call(layer, values, *arguments):
    before = [variable.value for variable in layer.variables]
    try:
        for variable, value in zip(layer.variables, values, strict=True):
            variable.value = value
        outputs = layer(*arguments)
        return outputs, [variable.value for variable in layer.variables]
    finally:
        for variable, value in zip(layer.variables, before, strict=True):
            variable.value = value

"""The old values are put back only if nothing goes wrong.

en: expected variable 0 of the layer to be as before after a call that raised an error, it was [1.0, 0.0], now it is [2.0, 1.5]
zh: 调用抛出错误之后，层的变量 0 应和之前一样，原来是 [1.0, 0.0]，现在是 [2.0, 1.5]
"""

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


def stateless_call(layer, values, *arguments):
    before = [variable.value for variable in layer.variables]
    for variable, value in zip(layer.variables, values, strict=True):
        variable.assign(value)
    outputs = layer(*arguments)
    after = [variable.value for variable in layer.variables]
    for variable, value in zip(layer.variables, before, strict=True):
        variable.value = value
    return outputs, after

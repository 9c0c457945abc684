"""Calls the layer with its own values.

en: expected the outputs of call 0, at [0], to be -8, yours is -15
zh: 第 0 次调用的输出，[0] 处应为 -8，你的是 -15
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
            variable.assign(variable.value)
        outputs = layer(*arguments)
        return outputs, [variable.value for variable in layer.variables]
    finally:
        for variable, value in zip(layer.variables, before, strict=True):
            variable.value = value

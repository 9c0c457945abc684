import copy

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


def stateless_call(layer, values, *arguments):
    kept = [copy.copy(v.value) for v in layer.variables]
    if len(values) != len(kept):
        raise ValueError
    try:
        for n, v in enumerate(layer.variables):
            v.value = np.array(values[n], "float64")
        outputs = layer(*arguments)
        new = [np.array(v.value) for v in layer.variables]
    except BaseException:
        for v, old in zip(layer.variables, kept):
            v.assign(old)
        raise
    for v, old in zip(layer.variables, kept):
        v.assign(old)
    return [outputs, new]

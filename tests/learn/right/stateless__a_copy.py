import copy

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


def stateless_call(layer, values, *arguments):
    twin = copy.deepcopy(layer)
    if len(values) != len(twin.variables):
        raise ValueError("how many values?")
    for variable, value in zip(twin.variables, values):
        variable.assign(value)
    return twin(*arguments), [variable.value for variable in twin.variables]

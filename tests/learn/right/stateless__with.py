from contextlib import contextmanager

import numpy as np


class Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def assign(self, value):
        self.value = np.array(value)


@contextmanager
def state(layer, values):
    if len(layer.variables) - len(values):
        raise ValueError(f"{len(values)} values")
    before = {v: v.value for v in layer.variables}
    try:
        for v, value in zip(layer.variables, values):
            v.assign(value)
        yield
    finally:
        for v in before:
            v.value = before[v]


def stateless_call(layer, values, *arguments):
    with state(layer, values):
        return layer(*arguments), [v.value for v in layer.variables]

"""Your own engine, part 6: Function, which computes numbers, and SGD.

Function(inputs, outputs, updates) takes a list of tensors that get arrays at each call, a list of
tensors to compute, and a list of pairs (variable, new value). A call f(arrays) has two phases:

1. compute everything, outputs and new values: go through applies_in_order, call op.perform for each
   Apply once, and keep the results. The array of a tensor is that of the input, or its own `value`,
   which is read at each call, or the result of its Apply. A tensor that has none of them is a
   missing input: raise a ValueError that contains its name;
2. write the new values into `variable.value`, each in an array of its own, and return the list of
   output arrays.

So the outputs belong to the weights before the call, and two variables can exchange their values.

SGD(lr).get_updates(loss, params) returns the pair (p, p - lr * d loss / d p) for each parameter.

Fill in the missing parts.
"""

import numpy as np
from my_engine.gradient import gradients
from my_engine.graph import applies_in_order


class Function:
    def __init__(self, inputs, outputs, updates=()):
        self.inputs = inputs
        self.outputs = outputs
        self.updates = list(updates)
        self.schedule = applies_in_order(...)

    def __call__(self, arrays):
        values = dict(zip(self.inputs, arrays, strict=True))
        ...
        return ...


class SGD:
    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        return ...

"""SGD returns the step instead of the new value.

en: expected w = [2, -1] after a step on b * sum(w * w), lr = 0.1, at [0], to be 0.8, yours is 1.2
zh: w = [2, -1] 对 b * sum(w * w) 走一步（lr = 0.1）之后，[0] 处应为 0.8，你的是 1.2
"""

import numpy as np
from my_engine.gradient import gradients
from my_engine.graph import applies_in_order


class Function:
    """Compute everything, then write the new values all at once."""

    def __init__(self, inputs, outputs, updates=()):
        self.inputs = inputs
        self.outputs = outputs
        self.updates = list(updates)
        self.schedule = applies_in_order([*outputs, *[new for _, new in self.updates]])

    def __call__(self, arrays):
        values = dict(zip(self.inputs, arrays, strict=True))

        def value_of(tensor):
            value = values.get(tensor, tensor.value)
            if value is None:
                raise ValueError(f"the outputs need {tensor.name!r}, which is not an input")
            return value

        for apply in self.schedule:
            values[apply.outputs[0]] = apply.op.perform(*[value_of(x) for x in apply.inputs])
        results = [value_of(x) for x in self.outputs]
        new_values = [(variable, value_of(new)) for variable, new in self.updates]
        for variable, array in new_values:
            variable.value = np.array(array)
        return results


class SGD:
    """p becomes p - lr * d loss / d p."""

    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        grads = gradients(loss, params)
        return [(p, g * self.lr) for p, g in zip(params, grads, strict=True)]

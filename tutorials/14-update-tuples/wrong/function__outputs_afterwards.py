"""The outputs are computed with the new weights.

en: expected what call 1 returns, the square of w, at [0, 0], to be 4, yours is 2.56
zh: 第 1 次调用返回的 w 的平方，[0, 0] 处应为 4，你的是 2.56
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
        new_values = [(variable, value_of(new)) for variable, new in self.updates]
        for variable, array in new_values:
            variable.value = np.array(array)
        for apply in self.schedule:
            values[apply.outputs[0]] = apply.op.perform(*[value_of(x) for x in apply.inputs])
        return [value_of(x) for x in self.outputs]


class SGD:
    """p becomes p - lr * d loss / d p."""

    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        grads = gradients(loss, params)
        return [(p, p - g * self.lr) for p, g in zip(params, grads, strict=True)]

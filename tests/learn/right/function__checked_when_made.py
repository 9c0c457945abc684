"""Functions that compute a graph with numbers, and the updates of SGD."""

import numpy as np
from my_engine.gradient import gradients
from my_engine.graph import applies_in_order


class Function:
    """Compute everything, then write the new values all at once."""

    def __init__(self, inputs, outputs, updates=()):
        self.inputs = inputs
        self.outputs = outputs
        self.updates = list(updates)
        self.results = [*outputs, *[new_value for _, new_value in self.updates]]
        self.schedule = applies_in_order(self.results)
        read = [x for apply in self.schedule for x in apply.inputs] + self.results
        for x in read:
            if x.owner is None and x.value is None and x not in self.inputs:
                raise ValueError(f"expected {x.name} among the inputs")

    def __call__(self, arrays):
        known = {x: x.value for apply in self.schedule for x in apply.inputs}
        known.update((x, x.value) for x in self.results)
        known.update(zip(self.inputs, arrays, strict=True))
        for apply in self.schedule:
            (y,) = apply.outputs
            known[y] = apply.op.perform(*[known[x] for x in apply.inputs])
        new = {variable: np.array(known[value]) for variable, value in self.updates}
        for variable, array in new.items():
            variable.value = array
        return [known[x] for x in self.outputs]


class SGD:
    """p becomes p - lr * d loss / d p."""

    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        grads = gradients(loss, params)
        return tuple((p, p + g * -self.lr) for p, g in zip(params, grads, strict=True))

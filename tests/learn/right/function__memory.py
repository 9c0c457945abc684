"""Functions that compute a graph with numbers, and the updates of SGD."""

import numpy as np
from my_engine.gradient import gradients


class Function:
    """Compute everything, then write the new values all at once."""

    def __init__(self, inputs, outputs, updates=()):
        self.inputs = inputs
        self.outputs = outputs
        self.updates = list(updates)

    def __call__(self, arrays):
        memory = dict(zip(self.inputs, map(np.asarray, arrays), strict=True))
        outputs = [self.compute(x, memory) for x in self.outputs]
        news = [(v, np.copy(self.compute(new, memory))) for v, new in self.updates]
        for variable, array in news:
            variable.value = array
        return outputs

    def compute(self, tensor, memory):
        if tensor not in memory:
            if tensor.owner is not None:
                inputs = [self.compute(x, memory) for x in tensor.owner.inputs]
                memory[tensor] = tensor.owner.op.perform(*inputs)
            elif tensor.value is not None:
                memory[tensor] = tensor.value
            else:
                raise ValueError(f"missing: {tensor.name}")
        return memory[tensor]


class SGD:
    """p becomes p - lr * d loss / d p."""

    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        grads = gradients(loss, params)
        return [(p, p - g * self.lr) for p, g in zip(params, grads, strict=True)]

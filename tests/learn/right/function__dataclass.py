"""Functions that compute a graph with numbers, and the updates of SGD."""

from dataclasses import dataclass

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

    def __call__(self, arrays):
        values = dict(zip(self.inputs, arrays, strict=True))

        def value_of(tensor):
            if tensor in values:
                return values[tensor]
            if tensor.value is None:
                raise ValueError(f"the outputs need {tensor.name!r}, which is not an input")
            return tensor.value

        for apply in self.schedule:
            values.update({apply.outputs[0]: apply.op.perform(*map(value_of, apply.inputs))})
        results = list(map(value_of, self.results))
        new_values = results[len(self.outputs) :]
        for (variable, _), array in zip(self.updates, new_values, strict=True):
            variable.value = np.array(array)
        return results[: len(self.outputs)]


@dataclass
class SGD:
    lr: float = 0.01

    def get_updates(self, loss, params):
        pairs = []
        for p in params:
            (g,) = gradients(loss, [p])
            pairs.append([p, p - g * self.lr])
        return pairs

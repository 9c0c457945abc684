"""Writes two variables and ignores a third.

en: expected (a, b, c) = (1, 2, 3) after a rotation to be [2.0, 3.0, 1.0], yours is [2.0, 3.0, 3.0]
zh: (a, b, c) = (1, 2, 3) 轮换之后应为 [2.0, 3.0, 1.0]，你的是 [2.0, 3.0, 3.0]
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        outputs = [K.eval(tensor) for tensor in self.outputs]
        new_values = [K.eval(new_value) for _, new_value in self.updates[:2]]
        for (variable, _), number in zip(self.updates[:2], new_values, strict=True):
            K.set_value(variable, number)
        return outputs

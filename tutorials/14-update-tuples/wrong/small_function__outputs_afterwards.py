"""The outputs use the new weights, as S4 says.

en: expected what call 1 returns, at [0], to be 4, yours is 2.56
zh: 第 1 次调用的返回值，[0] 处应为 4，你的是 2.56
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        new_values = [K.eval(new_value) for _, new_value in self.updates]
        for (variable, _), number in zip(self.updates, new_values, strict=True):
            K.set_value(variable, number)
        return [K.eval(tensor) for tensor in self.outputs]

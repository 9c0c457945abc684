"""Each new value is written before the next is computed.

en: expected (a, b) = (1, 9) after a swap to be [9.0, 1.0], yours is [9.0, 9.0]
zh: (a, b) = (1, 9) 交换之后应为 [9.0, 1.0]，你的是 [9.0, 9.0]
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        outputs = [K.eval(tensor) for tensor in self.outputs]
        for variable, new_value in self.updates:
            K.set_value(variable, K.eval(new_value))
        return outputs

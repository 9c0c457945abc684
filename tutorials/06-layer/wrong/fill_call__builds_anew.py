"""Builds at each call.

en: the steps of two calls: expected number 3 to be 'call', yours is 'build (2,)'
zh: 两次调用所做的事：第 3 个应为 'call'，你的是 'build (2,)'
"""

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built = False
        self.calls = []

    def __call__(self, inputs):
        self.build(K.int_shape(inputs))
        self.built = True
        outputs = self.call(inputs)
        if outputs is inputs:
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return outputs

"""self.built is never set.

en: expected layer.built after a call to be True, yours is False
zh: 调用之后的 layer.built 应为 True，你的是 False
"""

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built = False
        self.calls = []

    def __call__(self, inputs):
        if not self.built:
            self.build(K.int_shape(inputs))
        outputs = self.call(inputs)
        if outputs is inputs:
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return outputs

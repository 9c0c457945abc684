"""Only the last two calls are recorded.

en: expected len(layer.calls) to be 3, yours is 2
zh: len(layer.calls) 应为 3，你的是 2
"""

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built = False
        self.calls = []

    def build(self, input_shape):
        return None

    def call(self, inputs):
        return inputs

    def __call__(self, inputs):
        if not self.built:
            self.build(K.int_shape(inputs))
            self.built = True
        outputs = self.call(inputs)
        if outputs is inputs:
            outputs = K.identity(outputs)
        self.calls = [*self.calls[-1:], (inputs, outputs)]
        return outputs

"""build gets the inputs, not their shape.

en: expected build to get a shape, yours passes it a tensor
zh: 交给 build 的应是形状，你交的是张量
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
            self.build(inputs)
            self.built = True
        outputs = self.call(inputs)
        if outputs is inputs:
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return outputs

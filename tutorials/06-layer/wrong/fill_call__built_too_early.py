"""self.built is set before build has finished.

en: expected layer.built after a build that failed to be False, yours is True
zh: build 失败之后的 layer.built 应为 False，你的是 True
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
            self.built = True
            self.build(K.int_shape(inputs))
        outputs = self.call(inputs)
        if outputs is inputs:
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return outputs

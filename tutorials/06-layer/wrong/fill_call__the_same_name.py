"""Another tensor of the same name is taken for the inputs.

en: expected an output that is another tensor to be returned unchanged, whatever its name; yours is a copy
zh: 输出是另一个张量时，无论叫什么名字都应原样交还，你返回的是它的复制
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
        if outputs.name == inputs.name:
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return outputs

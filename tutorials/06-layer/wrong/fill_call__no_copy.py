"""An unchanged output is not copied.

en: expected a copy of an output that `call` left unchanged, yours is the input itself
zh: `call` 没有改变的输出应当复制，你返回的就是输入本身
"""

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built = False
        self.calls = []

    def __call__(self, inputs):
        if not self.built:
            self.build(K.int_shape(inputs))
            self.built = True
        outputs = self.call(inputs)
        self.calls.append((inputs, outputs))
        return outputs

"""The calls are not recorded.

en: expected len(layer.calls) to be 3, yours is 0
zh: len(layer.calls) 应为 3，你的是 0
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
        return self.call(inputs)

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.calls = []
        self.built = False

    def build(self, input_shape):
        pass

    def call(self, inputs):
        return inputs

    def maybe_build(self, inputs):
        if not self.built:
            self.build(K.int_shape(inputs))
        self.built = True

    def copied(self, inputs, outputs):
        return K.identity(outputs) if any(outputs is one for one in [inputs]) else outputs

    def __call__(self, inputs):
        self.maybe_build(inputs)
        outputs = self.copied(inputs, self.call(inputs))
        self.calls.append([inputs, outputs])
        return outputs

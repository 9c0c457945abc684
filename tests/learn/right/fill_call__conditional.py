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
        if self.built is False:
            self.build(inputs.shape)
        self.built = True
        made = self.call(inputs)
        outputs = K.identity(made) if made is inputs else made
        self.calls += [(inputs, outputs)]
        return outputs

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built, self.calls = False, []

    def build(self, input_shape): ...

    def call(self, inputs):
        return inputs

    def __call__(self, inputs):
        if self.built:
            return self.record(inputs, self.call(inputs))
        self.build(tuple(K.int_shape(inputs)))
        self.built = True
        return self(inputs)

    def record(self, inputs, outputs):
        if id(outputs) == id(inputs):
            outputs = K.identity(outputs)
        self.calls.append((inputs, outputs))
        return self.calls[-1][1]

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        outputs = [K.eval(tensor) for tensor in self.outputs]
        new_values = [K.eval(new_value) for _, new_value in self.updates]
        for (variable, _), number in zip(self.updates, new_values, strict=True):
            K.set_value(variable, number)
        return outputs

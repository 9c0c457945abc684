from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = list(outputs)
        self.updates = list(updates)

    def __call__(self):
        found = list(map(K.eval, self.outputs))
        written = {variable: K.eval(new_value) for variable, new_value in self.updates}
        for variable in written:
            K.set_value(variable, written[variable])
        return found

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        numbers = [K.eval(t) for t in [*self.outputs, *(nv for _, nv in self.updates)]]
        count = len(self.outputs)
        K.batch_set_value(list(zip([v for v, _ in self.updates], numbers[count:])))
        return numbers[:count]

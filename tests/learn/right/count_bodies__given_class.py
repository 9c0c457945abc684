from keras import backend as K

eager, graph, columns, converted = 3, 1, 2, 3


class keep:
    def __init__(self, body):
        self.body = body
        self.function = None

    def __call__(self, array):
        if self.function is None:
            x = K.placeholder((None,) + array.shape[1:])
            self.function = K.function([x], self.body(x))
        return self.function([array])

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        return [(p, p - self.lr * g) for p, g in zip(params, gradients, strict=True)]

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr, name="lr")

    def get_updates(self, loss, params):
        return tuple(
            K.update_sub(p, g * self.lr) for p, g in zip(params, K.gradients(loss, params))
        )

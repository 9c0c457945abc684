"""Returns only the new values, without their variables.

en: expected pairs[0] to be a pair (variable, new value), yours is the tensor 'subtract': a new value alone does not say which variable it is for
zh: pairs[0] 应是二元组（变量，新值），你的是张量 'subtract'：只有新值，就不知道它属于哪个变量
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        return [p - self.lr * g for p, g in zip(params, gradients, strict=True)]

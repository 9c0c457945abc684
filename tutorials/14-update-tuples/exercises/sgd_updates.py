"""Write get_updates for plain gradient descent.

An optimizer does not change weights itself. get_updates(loss, params) returns pairs (variable, new
value) in which the new value is a tensor; K.function computes and writes them at each call. For
gradient descent, the new value of p is p - lr * gradient.

`self.lr` is a variable: if you set it later, with K.set_value, the following steps change.
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        return ...

"""The gradient forgets what arrives.

en: expected the gradient of Tanh for unequal arriving gradients, at [0, 1], to be 0.839949, yours is 0.419974
zh: 到达的梯度各不相同时 Tanh 的梯度，[0, 1] 处应为 0.839949，你的是 0.419974
"""

import numpy as np
from my_engine.function import Function
from my_engine.gradient import gradients
from my_engine.graph import Op, Sum, Tensor
from my_engine.layer import Layer


class Tanh(Op):
    def perform(self, x):
        return np.tanh(x)

    def grad(self, inputs, outputs, output_grads):
        (y,), (g,) = outputs, output_grads
        return [y * y * -1.0 + 1.0]


class Activation(Layer):
    def __init__(self, op, name=None):
        super().__init__(name)
        self.op = op

    def call(self, inputs):
        return self.op(inputs)


def gradient_error(op, array):
    x = Tensor(array.shape)
    loss = Sum()(op(x))

    def computed(y, array):
        (found,) = Function([x], [y])([array])
        return found

    (slope,) = gradients(loss, [x])
    exact = computed(slope, array)
    differences = []
    for place in np.ndindex(array.shape):
        step = np.zeros(array.shape)
        step[place] = 1e-5
        rough = (computed(loss, array + step) - computed(loss, array - step)) / 2e-5
        differences.append(abs(exact[place] - rough))
    return max(differences)

"""The difference is taken on one side.

en: expected gradient_error of a right gradient to be 0, yours is 1.00003e-05
zh: 梯度正确时的 gradient_error 应为 0，你的是 1.00003e-05
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
        return [g - g * y * y]


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
        rough = (computed(loss, array + step) - computed(loss, array)) / 1e-5
        differences.append(abs(exact[place] - rough))
    return max(differences)

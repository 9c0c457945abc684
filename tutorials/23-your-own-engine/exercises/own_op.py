"""Add an op of your own to your engine, and check its gradient.

`Tanh` computes np.tanh, element by element. For y = tanh(x) the slope is 1 - y * y; `grad` returns
it times what arrives, as a symbolic tensor. A Tensor of your engine must be the left operand: it
has `y * 2` and `y - 1`, but Python cannot compute `2 * y` or `1 - y` with it.

`Activation(op)` is a layer without weights whose call is the op: Activation(Tanh())(x).

`gradient_error(op, array)` tells whether the `grad` of an op with one input is right. It makes a
tensor x of the shape of `array`, and the loss Sum()(op(x)). Return the largest difference, for all
elements of the array, between the derivative from `gradients` and the finite difference
(f(a + step) - f(a - step)) / (2 * step) for step = 1e-5, where only this element is moved.
"""

import numpy as np
from my_engine.function import Function
from my_engine.gradient import gradients
from my_engine.graph import Op, Sum, Tensor
from my_engine.layer import Layer


class Tanh(Op):
    def perform(self, x):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [...]


class Activation(Layer):
    def __init__(self, op, name=None):
        super().__init__(name)
        self.op = op

    def call(self, inputs):
        return ...


def gradient_error(op, array):
    return ...

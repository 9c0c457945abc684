"""Checks the student's weights, penalty, and kernel after steps that pull it below zero."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Input
from kerascope.learn import Text, check
from kerascope.models import Model


def made(student, penalty=0.5):
    inputs = Input(shape=(2,))
    layer = student.get("HeldDense")(3, penalty, name="held")
    return layer, Model(inputs, layer(inputs))


@check
def the_weights(student):
    layer, _ = made(student)
    shapes = [tuple(K.int_shape(w)) for w in layer.trainable_weights]
    what = Text("the shapes of the trainable weights", "可训练权重的形状")
    student.same(what, shapes, [(2, 3), (3,)])
    kernel, bias = layer.get_weights()
    student.close(Text("the kernel at the beginning", "kernel 的初值"), kernel, np.ones((2, 3)))
    student.close(Text("the bias at the beginning", "bias 的初值"), bias, np.zeros(3))


@check
def the_numbers(student):
    layer, model = made(student)
    kernel, bias = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0, 0.5])
    layer.set_weights([kernel, bias])
    x = np.array([[1.0, 2.0], [-1.0, 0.5]])
    student.close(Text("what it gives for x", "对 x 的输出"), model.predict(x), x @ kernel + bias)
    deep = student.get("HeldDense")(3, 0.5)
    deep(Input(shape=(5, 2)))
    shapes = [tuple(K.int_shape(w)) for w in deep.trainable_weights]
    names = [w.name.rpartition("/")[2] for w in deep.trainable_weights]
    student.same(Text("the names of the weights", "权重的名字"), names, ["kernel", "bias"])
    what = Text("the shapes of the weights for rows of (5, 2)", "每行为 (5, 2) 时权重的形状")
    student.same(what, shapes, [(2, 3), (3,)])


@check
def the_penalty(student):
    for penalty in (0.5, 2.0):
        layer, _ = made(student, penalty)
        layer.set_weights([np.full((2, 3), 2.0), np.full(3, 5.0)])
        words = f"penalty={penalty}"
        what = Text(f"the number of layer.losses with {words}", f"{words} 时 layer.losses 的项数")
        student.same(what, len(layer.losses), 1)
        what = Text(f"the penalty with {words}", f"{words} 时的惩罚")
        student.close(what, float(K.eval(layer.losses[0])), 6 * 4 * penalty)


@check
def after_some_steps(student):
    layer, model = made(student, 0.0)
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2)), np.full((4, 3), -150.0)
    for _ in range(100):
        model.train_on_batch(x, y)
    kernel, bias = layer.get_weights()
    lowest = float(kernel.min())
    student.require(
        lowest >= 0,
        en="expected the kernel to stay at 0 or above after 100 steps, yours is at "
        f"{lowest:.2f} somewhere",
        zh=f"训练 100 步之后 kernel 应不小于 0，你的有一处是 {lowest:.2f}",
    )
    student.require(
        float(bias.max()) < 0,
        en="expected the bias to be free to go below 0, yours was held back",
        zh="bias 应可以小于 0，你的被限制住了",
    )
    student.require(
        float(bias.max()) < -50,
        en="expected the bias to be free to go far below 0, towards the targets of -150; after 100 "
        f"steps yours is at {float(bias.max()):.2f}",
        zh=f"bias 应可以远小于 0，走向目标 -150；训练 100 步之后，你的在 {float(bias.max()):.2f}",
    )

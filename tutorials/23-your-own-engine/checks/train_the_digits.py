"""Checks the model, the accuracy, the training on the digits, and ten steps against kerascope's."""

from importlib import import_module

import numpy as np

from kerascope.datasets import digits
from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def a_model(student, what, found):
    student.require(
        isinstance(found, engine("fit").Model),
        en=f"expected {what} to be a Model of my_engine, yours is {shown(found)}",
        zh=f"{what} 应是 my_engine 的 Model，你的是 {shown(found, 'zh')}",
    )
    return found


@check
def the_engine_takes_kerascopes_steps(student):
    from kerascope import backend as K
    from kerascope import layers, models, optimizers

    layer, fit, function = engine("layer"), engine("fit"), engine("function")
    (x, y), _ = digits.load_data()
    rows, targets = x.reshape(-1, 64) / 16, np.eye(10)[y]
    pixels = layer.Input((64,))
    own = fit.Model(pixels, layer.Dense(10, "softmax")(layer.Dense(32, "relu")(pixels)))
    own.compile(function.SGD(0.2), "categorical_crossentropy")
    K.set_floatx("float64")
    pixels = layers.Input((64,))
    hidden = layers.Dense(32, activation="relu")(pixels)
    theirs = models.Model(pixels, layers.Dense(10, activation="softmax")(hidden))
    theirs.compile(optimizers.SGD(0.2), "categorical_crossentropy")
    theirs.set_weights(own.get_weights())
    for step in range(10):
        batch = slice(32 * step, 32 * step + 32)
        one, other = (m.train_on_batch(rows[batch], targets[batch]) for m in (own, theirs))
        student.close(
            Text(f"the loss of step {step} of your engine", f"你的引擎第 {step} 步的损失"),
            one,
            other,
            1e-6,
        )


@check
def the_model(student):
    np.random.seed(0)
    model = a_model(student, "make_model()", student.function("make_model")())
    student.require(
        hasattr(model, "train_function"),
        en="expected make_model() to return a compiled model: call model.compile",
        zh="make_model() 应返回编译好的模型：请调用 model.compile",
    )
    shapes = [x.shape for x in (*model.inputs, *model.outputs)]
    what = Text("the shapes of input and output", "输入和输出的形状")
    student.same(what, shapes, [(None, 64), (None, 10)])
    chances = model.predict(np.random.default_rng(0).uniform(size=(5, 64)))
    what = Text("the sums of the 10 probabilities of each row", "每行 10 个概率之和")
    student.close(what, chances.sum(axis=-1), np.ones(5))


class Fixed:
    """Takes the place of a model; its predictions are the given numbers."""

    def __init__(self, chances):
        self.chances = chances

    def predict(self, x):
        return self.chances[: len(x)]


@check
def the_accuracy(student):
    accuracy = student.function("accuracy")
    chances = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.4, 0.35, 0.25]])
    for digits_of, expected in (
        ([1, 0, 2, 0], 1.0),
        ([1, 0, 2, 1], 0.75),
        ([0, 1, 0, 2], 0.0),
        ([1, 1, 1, 1], 0.25),
    ):
        what = Text(
            f"accuracy for the predictions [1, 0, 2, 0] and the digits {digits_of}",
            f"预测为 [1, 0, 2, 0]、数字为 {digits_of} 时的 accuracy",
        )
        student.close(
            what, accuracy(Fixed(chances), np.zeros((4, 64)), np.array(digits_of)), expected
        )


@check
def the_digits(student):
    np.random.seed(0)
    (x, y), (x_test, y_test) = digits.load_data()
    rows, targets = x.reshape(-1, 64) / 16, np.eye(10)[y]
    found = student.listed("train(x, y)", student.function("train")(rows, targets), 2)
    model = a_model(student, "train(x, y)[0]", found[0])
    losses = student.listed("train(x, y)[1]", found[1])
    student.require(
        len(losses) > 0 and np.all(np.isfinite(losses)),
        en=f"expected the losses of the epochs to be numbers, yours are {shown(losses[:5])}",
        zh=f"各轮的损失应是数，你的是 {shown(losses[:5], 'zh')}",
    )
    student.require(
        losses[-1] <= losses[0],
        en=f"expected the loss to fall, yours goes from {losses[0]:.3f} to {losses[-1]:.3f}",
        zh=f"损失应当下降，你的从 {losses[0]:.3f} 变为 {losses[-1]:.3f}",
    )
    share = np.mean(model.predict(x_test.reshape(-1, 64) / 16).argmax(axis=-1) == y_test)
    student.require(
        share >= 0.95,
        en=f"expected at least 95% of the test digits to be read right, your model reads {share:.1%}",
        zh=f"测试数字至少要认对 95%，你的模型认对 {share:.1%}",
    )

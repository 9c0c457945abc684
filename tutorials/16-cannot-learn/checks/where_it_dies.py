"""Tests seven chains: without a cause of a dead gradient, with one cause, and with two."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Activation, Dense, Input, Lambda
from kerascope.learn import Text, check
from kerascope.models import Model

X = np.random.default_rng(0).normal(size=(6, 4))
Y = np.array([0, 1, 0, 0, 1, 1])


def chain(layers, loss="mse"):
    np.random.seed(0)
    x = inputs = Input(shape=(4,), name="x")
    for layer in layers:
        x = layer(x)
    model = Model(inputs, x)
    model.compile("sgd", loss)
    return model


def hidden(name, **options):
    return Dense(5, activation="tanh", name=name, **options)


def case(student, en, zh, model, expected, x=X, y=Y):
    weights = model.get_weights()
    what = Text(f"where_it_dies of {en}", f"where_it_dies（{zh}）")
    student.same(what, student.function("where_it_dies")(model, x, y), expected)
    same = map(np.array_equal, weights, model.get_weights())
    student.require(
        all(same),
        en="expected the weights to stay the same, yours have changed",
        zh="权重应保持原样，你的变了",
    )


@check
def alive_and_dead(student):
    living = chain([hidden("one"), hidden("two"), Dense(1, name="last")])
    case(student, "a model that learns", "能学习的模型", living, None)
    softmax = [hidden("one"), hidden("two"), Dense(1, activation="softmax", name="last")]
    case(student, "softmax with mse", "softmax 配 mse", chain(softmax), "last")
    softmax = [hidden("one"), hidden("two"), Dense(1, activation="softmax", name="last")]
    both = chain(softmax, "binary_crossentropy")
    case(student, "softmax with crossentropy", "softmax 配交叉熵", both, "loss")


@check
def in_the_middle(student):
    deaf = Dense(5, activation="relu", name="deaf", bias_initializer="zeros")
    model = chain([hidden("one"), deaf, hidden("three"), Dense(1, name="last")])
    K.set_value(deaf.bias, np.full(5, -100.0))
    case(student, "a relu below 0 in the middle", "中间的 relu 全在 0 以下", model, "deaf")
    layers = [hidden("one"), Dense(1, name="two"), Activation("softmax", name="shares")]
    case(student, "an activation of its own", "单独成层的激活函数", chain(layers), "shares")


@check
def at_the_first_layer(student):
    deaf = Dense(5, activation="relu", name="deaf")
    model = chain([deaf, hidden("two"), Dense(1, name="last")])
    K.set_value(deaf.bias, np.full(5, -100.0))
    case(student, "a relu below 0 in the first layer", "第一层的 relu 全在 0 以下", model, "deaf")


@check
def slopes_that_cancel(student):
    """Test rows in pairs (x, -x): every sum of slopes is 0, but no slope is."""
    odd = np.repeat(X[:3], 2, axis=0) * np.array([[1.0], [-1.0]] * 3)
    labels = np.array([1.0, -1.0, 3.0, -3.0, 0.5, -0.5])
    model = chain([hidden("one"), Dense(1, name="last")])
    case(student, "a model whose slopes sum to 0", "梯度之和为 0 的模型", model, None, odd, labels)


@check
def no_way_at_all(student):
    wall = Lambda(K.stop_gradient, name="wall")
    model = chain([hidden("one"), wall, Dense(1, name="last")])
    case(student, "a layer that stops gradients", "阻断梯度的层", model, "wall")
    blank = Dense(5, kernel_initializer="zeros", name="blank")
    model = chain([hidden("one"), blank, Dense(1, name="last")])
    case(student, "a layer whose kernel is 0", "kernel 全为 0 的层", model, "blank")


@check
def faint_and_alive(student):
    """Test slopes of 1e-9 and far less, which are small but not 0."""
    for words in ("1e-9", "1e-25"):

        def faint(y_true, y_pred, factor=float(words)):
            return factor * K.mean(K.square(y_pred - y_true), axis=-1)

        model = chain([hidden("one"), Dense(1, name="last")], faint)
        en, zh = f"a model whose slopes are about {words}", f"梯度约为 {words} 的模型"
        case(student, en, zh, model, None)

"""Tests models in which the loss, the activation, both or neither stops the gradient."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Activation, Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model

X = np.random.default_rng(0).normal(size=(6, 4))
Y = np.array([0, 1, 0, 0, 1, 1])
THREE = np.eye(3)[[0, 1, 2, 2, 1, 0]]


def model_of(activation, loss, units=1, bias=0.0, kernel="glorot_uniform"):
    np.random.seed(0)
    inputs = Input(shape=(4,))
    dense = Dense(units, kernel_initializer=kernel)
    model = Model(inputs, Activation(activation)(dense(inputs)))
    K.set_value(dense.bias, np.broadcast_to(bias, (units,)))
    model.compile("sgd", loss)
    return model


def case(student, activation, loss, expected, units=1, bias=0.0, kernel="glorot_uniform", x=X):
    model = model_of(activation, loss, units, bias, kernel)
    y = Y if units == 1 else THREE
    number = bias if isinstance(bias, list) else f"{bias:g}"
    lifted = Text(f", bias {number}", f"、偏置 {number}") if bias else Text("", "")
    what = Text(
        f"causes of {named(activation)} over {units}{lifted.en}, with {named(loss)}",
        f"causes（{units} 个单元的 {named(activation)}{lifted.zh}，配 {named(loss)}）",
    )
    student.same(what, student.function("causes")(model, x, y), expected)


def named(one):
    return one if isinstance(one, str) else one.__name__


def faint_mse(y_true, y_pred):
    return 1e-9 * K.mean(K.square(y_pred - y_true), axis=-1)


def fainter_mse(y_true, y_pred):
    return 1e-20 * K.mean(K.square(y_pred - y_true), axis=-1)


def differences(z):
    """Return three outputs whose sum is always 0."""
    return K.dot(z, K.constant([[1.0, 0.0, -1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]))


@check
def one_unit(student):
    case(student, "sigmoid", "binary_crossentropy", [])
    case(student, "softmax", "mse", ["activation"])
    case(student, "linear", "binary_crossentropy", ["loss"], bias=50.0)
    case(student, "softmax", "binary_crossentropy", ["loss", "activation"])


@check
def others(student):
    case(student, "softmax", "categorical_crossentropy", [], units=3)
    case(student, "relu", "mse", ["activation"], units=3, bias=-50.0)


@check
def some_alive(student):
    """Test that one unit or one row of the data with a slope other than 0 is enough to learn."""
    case(student, "relu", "mse", [], units=3, bias=[-50.0, 50.0, -50.0])
    case(student, "sigmoid", "mse", [], kernel="zeros")
    last = np.zeros((6, 4))
    last[5] = 100.0  # where the relu is open
    case(student, "relu", "mse", [], units=3, bias=-50.0, kernel="ones", x=last)
    steep = np.array([[9.0], [0.1], [-9.0], [0.0], [9.0], [9.0]]) * np.ones(4)
    case(student, "hard_sigmoid", "mse", [], kernel="ones", x=steep)


@check
def faint_or_cancelling(student):
    """Test that small slopes, or slopes whose sum is 0, do not count as 0."""
    case(student, "sigmoid", faint_mse, [])
    case(student, "sigmoid", fainter_mse, [])
    case(student, "sigmoid", "mse", [], bias=-25.0)  # slopes of 1e-11
    case(student, "sigmoid", "mse", [], bias=-60.0)  # slopes of 1e-26
    odd = np.repeat(X[:3], 2, axis=0) * np.array([[1.0], [-1.0]] * 3)
    case(student, K.square, "mse", [], x=odd)
    case(student, differences, "mse", [], units=3)

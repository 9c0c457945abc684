"""Compares SimpleDense with Dense for the same weights; checks its config and its training."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model

# Numbers whose sums of products are exact, so that all machines agree.
X = np.array([[1.0, -2.0, 0.5, 3.0], [-1.0, 0.0, 2.0, -0.5]], dtype="float32")
KERNEL = (np.arange(12, dtype="float32").reshape(4, 3) - 7) / 4
BIAS = np.array([-3.0, -1.0, 2.0], dtype="float32")


@check
def its_weights(student):
    layer = student.get("SimpleDense")(3)
    student.require(
        not isinstance(layer, Dense),
        en="expected SimpleDense to be a layer of your own, yours leaves the work to Dense",
        zh="SimpleDense 应是你自己写的层，你的把工作交给了 Dense",
    )
    layer(Input(shape=(4,)))
    shapes = [tuple(K.int_shape(w)) for w in layer.weights]
    student.same(Text("the shapes of the weights", "权重的形状"), shapes, [(4, 3), (3,)])
    kernel, bias = layer.get_weights()
    limit = np.sqrt(6 / (4 + 3))
    student.require(
        bool(np.ptp(kernel) > 0 and np.abs(kernel).max() <= limit),
        en="expected the kernel to begin as glorot_uniform",
        zh="kernel 应以 glorot_uniform 初始化",
    )
    large = student.get("SimpleDense")(50)
    large(Input(shape=(40,)))
    drawn = large.get_weights()[0] / np.sqrt(6 / (40 + 50))
    # Uniform to the limit: the largest of 2,000 is at it, and their variance is a third.
    student.require(
        bool(0.95 < np.abs(drawn).max() <= 1.001 and 0.28 < np.var(drawn) < 0.39),
        en="expected a kernel of (40, 50) to begin as glorot_uniform, drawn evenly from within "
        "sqrt(6 / (40 + 50)) = 0.258, yours is not",
        zh="(40, 50) 的 kernel 应以 glorot_uniform 初始化，均匀取自 sqrt(6 / (40 + 50)) = 0.258 以内，"
        "你的不是",
    )
    student.close(Text("the bias at the beginning", "bias 的初值"), bias, np.zeros(3))


@check
def the_same_numbers_as_dense(student):
    for activation in (None, "relu", "softmax"):
        words = f"SimpleDense(3, {activation!r})(x)"
        dense, own = Dense(3, activation=activation), student.get("SimpleDense")(3, activation)
        for layer in (dense, own):
            layer(X)
            layer.set_weights([KERNEL, BIAS])
        student.close(words, own(X), dense(X))


@check
def with_more_axes(student):
    layer = student.get("SimpleDense")(3, "relu")
    rows = np.stack([X, X + 1, 2 * X])
    layer(rows)
    shapes = [tuple(K.int_shape(w)) for w in layer.weights]
    names = [w.name.rpartition("/")[2] for w in layer.weights]
    student.same(Text("the names of the weights", "权重的名字"), names, ["kernel", "bias"])
    what = Text("the shapes of the weights for rows of (2, 4)", "每行为 (2, 4) 时权重的形状")
    student.same(what, shapes, [(4, 3), (3,)])
    layer.set_weights([KERNEL, BIAS])
    expected = np.maximum(np.dot(rows, KERNEL) + BIAS, 0)
    student.close(
        Text("the layer on rows of (2, 4)", "层作用于 (2, 4) 的行"), layer(rows), expected
    )


@check
def in_a_model_and_back_from_its_config(student):
    simple_dense = student.get("SimpleDense")
    inputs = Input(shape=(4,))
    layer = simple_dense(3, activation="tanh", name="simple")
    model = Model(inputs, layer(inputs))
    student.same("model.count_params()", model.count_params(), 15)
    again = simple_dense.from_config(layer.get_config())
    for name, expected in (("name", "simple"), ("units", 3)):
        what = Text(f"{name} of the layer made again", f"再做出的层的 {name}")
        student.same(what, getattr(again, name), expected)
    again(X)
    again.set_weights(layer.get_weights())
    what = Text("the layer made again, on x", "再做出的层作用于 x")
    student.close(what, again(X), layer(X))

"""Checks the student's layer before its first call, after one call and two, and in training."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Input
from kerascope.learn import Text, check
from kerascope.models import Model

AFTER_ONE = Text("len(layer.weights) after one call", "一次调用之后的 len(layer.weights)")
AFTER_TWO = Text("len(layer.weights) after two calls", "两次调用之后的 len(layer.weights)")


@check
def built_by_the_first_call(student):
    layer = student.get("Affine")()
    student.same(Text("built of a new layer", "新建的层的 built"), layer.built, False)
    student.same(Text("weights of a new layer", "新建的层的 weights"), layer.weights, [])
    layer(Input(shape=(3,)))
    student.same(Text("built after a call", "调用之后的 built"), layer.built, True)
    student.same(
        AFTER_ONE, len(layer.weights), 2,
        Text("only add_weight registers a weight with the layer", "只有 add_weight 会登记权重"),
    )  # fmt: skip
    first = list(layer.weights)
    layer(Input(shape=(3,)))
    student.same(AFTER_TWO, len(layer.weights), 2)
    student.require(
        all(one is other for one, other in zip(first, layer.weights, strict=True)),
        en="expected the second call to use the weights of the first, yours made new ones",
        zh="第二次调用应使用第一次的权重，你的层创建了新的",
    )
    shapes = [tuple(K.int_shape(w)) for w in layer.weights]
    student.same(Text("the shapes of the weights", "权重的形状"), shapes, [(3,), (3,)])


@check
def the_numbers(student):
    layer = student.get("Affine")()
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype="float32")
    student.close("layer(x)", layer(x), x)
    ones = [w for w in layer.weights if np.all(K.get_value(w) == 1)]
    student.same(Text("weights that begin as ones", "初值为 1 的权重个数"), len(ones), 1)
    (factor,) = ones
    (shift,) = [w for w in layer.weights if w is not factor]
    K.set_value(factor, [2.0, 3.0, 4.0])
    K.set_value(shift, [5.0, -6.0, 7.0])
    student.close(
        Text("layer(x) with factor [2, 3, 4] and shift [5, -6, 7]",
             "factor 为 [2, 3, 4]、shift 为 [5, -6, 7] 时的 layer(x)"),
        layer(x), x * [2.0, 3.0, 4.0] + [5.0, -6.0, 7.0],
    )  # fmt: skip


@check
def with_more_axes(student):
    layer = student.get("Affine")()
    layer(Input(shape=(5, 3)))
    shapes = [tuple(K.int_shape(w)) for w in layer.weights]
    names = [w.name.rpartition("/")[2] for w in layer.weights]
    student.same(Text("the names of the weights", "权重的名字"), sorted(names), ["factor", "shift"])
    what = Text("the shapes of the weights for rows of (5, 3)", "每行为 (5, 3) 时权重的形状")
    student.same(what, shapes, [(3,), (3,)])


@check
def training_finds_the_weights(student):
    inputs = Input(shape=(2,))
    layer = student.get("Affine")()
    model = Model(inputs, layer(inputs))
    model.compile("sgd", "mse")
    before = [K.get_value(w).copy() for w in layer.trainable_weights]
    model.fit(np.ones((8, 2)), np.zeros((8, 2)), epochs=1, verbose=0)
    moved = [
        bool(np.any(K.get_value(w) != b))
        for w, b in zip(layer.trainable_weights, before, strict=True)
    ]
    student.same(Text("weights moved by training", "训练改变了的权重"), moved, [True, True])

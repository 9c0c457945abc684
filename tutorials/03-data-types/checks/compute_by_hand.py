"""Checks graphs that the student computes, with an op that counts how often it is performed."""

import numpy as np

from kerascope import backend as K
from kerascope.backend import Op
from kerascope.learn import Text, check
from kerascope.stage import observing


class Counted(Op):
    """An op that adds one and counts its runs."""

    performed = 0

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        Counted.performed += 1
        return x + 1.0


class OneOfThree(Op):
    """An op that returns the last of its inputs."""

    def infer_shape(self, x, y, z):
        return z.shape

    def perform(self, x, y, z):
        return z.copy()


@check
def each_kind_of_tensor(student):
    compute = student.function("compute")
    p = K.placeholder(shape=(2,), name="p")
    v = K.variable([10.0, 20.0], name="v")
    c = K.constant([1.0, 2.0], name="c")
    array = np.array([3.0, 4.0], "float32")
    cases = {"p": p, "v": v, "c": c, "p * 2": p * 2, "v - p": v - p}
    cases["K.sum(p * v + c)"] = K.sum(p * v + c)
    for words, tensor in cases.items():
        (expected,) = K.function([p], [tensor])([array])
        student.close(f"compute({words}, {{p: [3, 4]}})", compute(tensor, {p: array}), expected)
    x = K.placeholder(shape=(), name="x")
    what = Text("compute(x + 1, {x: 0})", "compute(x + 1, {x: 0})")
    student.close(what, compute(x + 1.0, {x: np.float32(0.0)}), 1.0)
    of_three = OneOfThree()(p, v, c)
    what = Text("compute(...) of an op with three inputs", "有三个输入的运算的 compute(...)")
    student.close(what, compute(of_three, {p: array}), [1.0, 2.0])


@check
def tensors_of_one_name(student):
    compute = student.function("compute")
    p, q = K.placeholder(shape=(), name="p"), K.placeholder(shape=(), name="p")
    feed = {p: np.float32(1.0), q: np.float32(2.0)}
    what = Text(
        "compute(p - q, {p: 1, q: 2}), both with the same name,",
        "同名的 p 与 q，compute(p - q, {p: 1, q: 2})",
    )
    student.close(what, compute(p - q, feed), -1.0)
    what = Text(
        "compute(K.exp(p) - K.exp(q), {p: 1, q: 2}), both with the same name,",
        "同名的 p 与 q，compute(K.exp(p) - K.exp(q), {p: 1, q: 2})",
    )
    student.close(what, compute(K.exp(p) - K.exp(q), feed), np.exp(1.0) - np.exp(2.0))


@check
def each_op_once(student):
    compute = student.function("compute")
    p = K.placeholder(shape=(), name="p")
    y = Counted()(p)
    for _ in range(3):
        y = y * y
    Counted.performed = 0
    student.close("compute(y, {p: 1})", compute(y, {p: np.float32(1.0)}), 256.0)
    student.require(
        Counted.performed == 1,
        en="expected the op at the bottom of ((p + 1)^2)^2... to be performed once in one call, "
        f"yours performs it {Counted.performed} times",
        zh="在一次调用中，((p + 1)^2)^2... 最底下的运算应只执行 1 次，"
        f"你的执行了 {Counted.performed} 次",
    )


@check
def nothing_is_remembered(student):
    compute = student.function("compute")
    v = K.variable(2.0, name="v")
    y = v**2
    student.close("compute(v ** 2, {})", compute(y, {}), 4.0)
    K.set_value(v, 3.0)
    what = Text(
        "compute(v ** 2, {}) after K.set_value(v, 3.0)",
        "K.set_value(v, 3.0) 之后的 compute(v ** 2, {})",
    )
    student.close(what, compute(y, {}), 9.0)


@check
def by_hand(student):
    p = K.placeholder(shape=(), name="p")
    stages = []
    with observing(lambda stage, event: stages.append(stage.name)):
        answer = student.function("compute")(p * 2.0, {p: np.float32(3.0)})
    student.require(
        not stages,
        en="expected compute to do the work by hand, "
        f"yours leaves it to a function called {''.join(stages[:1])!r}",
        zh=f"compute 应亲手计算，你的把它交给了名叫 {''.join(stages[:1])!r} 的函数",
    )
    student.close("compute(p * 2, {p: 3})", answer, 6.0)

"""Which op was asked for its gradient, and when; then the numbers."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.gradient import Swept
from kerascope.backend.graph import Op
from kerascope.learn import Text, check
from kerascope.stage import observing

ASKED = []


class Asked(Op):
    """An op that writes down when its gradient was asked for."""

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return self.body(x)

    def grad(self, inputs, outputs, output_grads):
        ASKED.append(self.name)
        return [output_grads[0] * self.slope(inputs[0])]


class Square(Asked):
    body = staticmethod(np.square)
    slope = staticmethod(lambda x: 2.0 * x)


class Sine(Asked):
    body = staticmethod(np.sin)
    slope = staticmethod(K.cos)


class Triple(Asked):
    body = staticmethod(lambda x: 3.0 * x)
    slope = staticmethod(lambda x: 3.0 * K.ones_like(x))


def order_of_the_engine(loss, x):
    swept = []

    def observer(stage, event):
        if isinstance(event, Swept) and isinstance(event.apply.op, Asked):
            swept.append(event.apply.op.name)

    with observing(observer):
        K.gradients(loss, [x])
    return swept


@check
def a_chain(student):
    x = K.variable(0.5, dtype="float64", name="x")
    loss = Sine()(Square()(Triple()(x)))
    expected = order_of_the_engine(loss, x)
    ASKED.clear()
    (slope,) = student.function("gradients")(loss, [x])
    what = Text("ops asked for their gradient", "依次被询问梯度的运算")
    student.order(what, ASKED, expected)
    slope = student.tensor("d loss / d x", slope)
    student.close("d loss / d x", K.eval(slope), 18 * 0.5 * np.cos(9 * 0.5**2))


@check
def a_tensor_that_is_used_twice(student):
    x = K.variable(2.0, dtype="float64", name="x")
    h = Square()(x)
    loss = Triple()(h) + h * Sine()(h)
    (slope,) = student.function("gradients")(loss, [x])
    expected = (3 + np.sin(4.0) + 4.0 * np.cos(4.0)) * 4.0
    what = Text(
        "d loss / d x, where x ** 2 is used three times", "d loss / d x（其中 x ** 2 用了三次）"
    )  # fmt: skip
    student.close(what, K.eval(student.tensor("d loss / d x", slope)), expected)


@check
def where_nothing_flows(student):
    x, other = K.variable([1.0, 3.0]), K.variable(1.0)
    loss = K.sum(x * K.stop_gradient(K.square(x)))
    slope, none = student.function("gradients")(loss, [x, other])
    student.close("K.sum(x * K.stop_gradient(x ** 2))", K.eval(slope), [1.0, 9.0])
    student.same(
        Text("the gradient of a variable that is not in the graph", "图中没有的变量的梯度"), none, None
    )  # fmt: skip

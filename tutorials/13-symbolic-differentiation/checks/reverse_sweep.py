"""Checks in which order the student's sweep computes the gradients of ops, then their numbers."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.gradient import Swept
from kerascope.backend.graph import Op
from kerascope.learn import Text, Unmet, check, drawn_formulas
from kerascope.stage import observing

ASKED = []


class Asked(Op):
    """An op that records when its gradient is computed."""

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


def swept_while(work):
    """Return the calls of ops that the engine sweeps during the work, and the result of the work."""
    swept = []

    def observer(stage, event):
        if isinstance(event, Swept):
            swept.append(event.apply)

    with observing(observer):
        result = work()
    return swept, result


def order_of_the_engine(loss, x):
    swept, _ = swept_while(lambda: K.gradients(loss, [x]))
    return [apply.op.name for apply in swept if isinstance(apply.op, Asked)]


def gradients(student, loss, wrt):
    """Return the student's list of gradients, which must not come from K.gradients."""
    swept, found = swept_while(lambda: student.function("gradients")(loss, wrt))
    found = student.listed("gradients(loss, wrt)", found, len(wrt))
    student.require(
        not swept,
        en="expected gradients to do the sweep itself, yours leaves it to K.gradients",
        zh="gradients 应自己完成反向扫描，你的把它交给了 K.gradients",
    )
    return found


@check
def a_chain(student):
    x = K.variable(0.5, dtype="float64", name="x")
    loss = Sine()(Square()(Triple()(x)))
    expected = order_of_the_engine(loss, x)
    ASKED.clear()
    (slope,) = gradients(student, loss, [x])
    what = Text("ops asked for their gradient", "依次被询问梯度的运算")
    student.order(what, ASKED, expected)
    slope = student.tensor("d loss / d x", slope)
    student.close("d loss / d x", K.eval(slope), 18 * 0.5 * np.cos(9 * 0.5**2))


@check
def a_tensor_that_is_used_twice(student):
    x = K.variable(2.0, dtype="float64", name="x")
    h = Square()(x)
    loss = Triple()(h) + h * Sine()(h)
    (slope,) = gradients(student, loss, [x])
    expected = (3 + np.sin(4.0) + 4.0 * np.cos(4.0)) * 4.0
    what = Text(
        "d loss / d x, where x ** 2 is used three times,", "d loss / d x（其中 x ** 2 用了三次）"
    )  # fmt: skip
    student.close(what, K.eval(student.tensor("d loss / d x", slope)), expected)


@check
def one_tensor_twice_in_an_op(student):
    x = K.variable(3.0, dtype="float64", name="x")
    h = Sine()(x)
    slope, between = gradients(student, h * h, [x, h])
    student.close(
        "d (h * h) / d h", K.eval(student.tensor("d loss / d h", between)), 2 * np.sin(3.0)
    )
    slope = student.tensor("d loss / d x", slope)
    student.close("d (h * h) / d x", K.eval(slope), 2 * np.sin(3.0) * np.cos(3.0))


@check
def formulas_drawn_by_lot(student):
    for words, loss, variables in drawn_formulas():
        wanted = K.gradients(loss, variables)
        for v, found, slope in zip(
            variables, gradients(student, loss, variables), wanted, strict=True
        ):
            what = f"d {words} / d {v.name}"
            if slope is None:
                student.same(what, found, None)
            else:
                student.close(what, K.eval(student.tensor(what, found)), K.eval(slope))


@check
def where_nothing_flows(student):
    x, other = K.variable([1.0, 3.0]), K.variable(1.0)
    loss = K.sum(x * K.stop_gradient(K.square(x)))
    slope, none = gradients(student, loss, [x, other])
    slope = student.tensor("d loss / d x", slope)
    student.close("K.sum(x * K.stop_gradient(x ** 2))", K.eval(slope), [1.0, 9.0])
    student.same(
        Text("the gradient of a variable that is not in the graph", "图中没有的变量的梯度"), none, None
    )  # fmt: skip


@check
def a_none_before_a_term(student):
    x = K.variable([1.0, 3.0])
    h = K.square(x)
    loss = K.sum(K.switch(K.greater(h, 2.0), h * h, h))  # `where` sends [None, term, term]
    (slope,) = gradients(student, loss, [x])
    what = Text(
        "d loss / d x, where an op sends None to its first input and a term to the others,",
        "d loss / d x（有个运算送给第一个输入 None，送给其余输入的是项）",
    )
    student.close(what, K.eval(student.tensor(what, slope)), [2.0, 108.0])


@check
def a_term_that_is_none(student):
    x = K.variable([1.0, 3.0])
    h = K.square(x)
    loss = K.sum(h * K.stop_gradient(h))
    try:
        slope, itself = gradients(student, loss, [x, loss])
    except Unmet as unmet:
        en = f"{unmet.message.en} (stop_gradient sends None to its input: there is nothing to add)"
        zh = f"{unmet.message.zh}（stop_gradient 送给输入的是 None：没有什么可加）"
        raise Unmet(Text(en, zh), unmet.line, unmet.details) from None
    slope = student.tensor("d loss / d x", slope)
    student.close("K.sum(h * K.stop_gradient(h)), h = x ** 2", K.eval(slope), [2.0, 54.0])
    itself = student.tensor("d loss / d loss", itself)
    student.close("d loss / d loss", K.eval(itself), 1.0)
    (none,) = gradients(student, K.sum(K.stop_gradient(h)), [x])
    student.same("K.sum(K.stop_gradient(h))", none, None)

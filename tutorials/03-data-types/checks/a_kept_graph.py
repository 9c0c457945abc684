"""Changes x after the student's y is made, and reads the ops in the graph of y."""

from kerascope import backend as K
from kerascope.learn import Text, check


@check
def the_lambda(student):
    box, other = [1], [-3]
    y = student.function("with_lambda")(box)
    student.require(
        callable(y),
        en=f"expected with_lambda(box) to return a function, yours returns {y!r}",
        zh=f"with_lambda(box) 应返回一个函数，你的返回 {y!r}",
    )
    student.same("y()", y(), 1)
    box[0] = 2
    what = Text("y() after box[0] = 2", "box[0] = 2 之后的 y()")
    student.same(what, y(), 4)
    what = Text("with_lambda([-3])()", "with_lambda([-3])()")
    student.same(what, student.function("with_lambda")(other)(), 9)
    student.same(Text("y() once more", "再次调用 y()"), y(), 4)
    what = Text("with_lambda([1.5])()", "with_lambda([1.5])()")
    student.same(what, student.function("with_lambda")([1.5])(), 2.25)


@check
def the_graph(student):
    x = K.variable(1.0, name="x")
    y = student.tensor("with_graph(x)", student.function("with_graph")(x))
    student.close("K.eval(y)", K.eval(y), 1.0)
    K.set_value(x, 2.0)
    what = Text("K.eval(y) after K.set_value(x, 2.0)", "K.set_value(x, 2.0) 之后的 K.eval(y)")
    student.close(what, K.eval(y), 4.0)
    K.set_value(x, -3.0)
    what = Text("K.eval(y) after K.set_value(x, -3.0)", "K.set_value(x, -3.0) 之后的 K.eval(y)")
    student.close(what, K.eval(y), 9.0)


@check
def the_ops(student):
    x = K.variable(1.0, name="x")
    cases = {
        "K.square(K.exp(x))": (K.square(K.exp(x)), ["square", "exp"]),
        "K.log(K.abs(x) + 1)": (K.log(K.abs(x) + 1), ["log", "add", "abs"]),
        "x": (x, []),
        "K.exp(K.placeholder((2,)))": (K.exp(K.placeholder((2,))), ["exp"]),
        "K.abs(K.constant(-1.0))": (K.abs(K.constant(-1.0)), ["abs"]),
        "K.constant(2.0) * K.exp(x)": (K.constant(2.0) * K.exp(x), ["multiply"]),
        "K.sum(K.tanh(x) * x)": (K.sum(K.tanh(x) * x), ["sum", "multiply", "tanh"]),
    }
    for words, (y, expected) in cases.items():
        student.order(f"ops_of({words})", student.function("ops_of")(y), expected)

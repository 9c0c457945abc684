"""Compares the student's gradient with finite differences; at 0, it must be 0 by convention."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

X = np.array([[1.0, -2.0, 0.5], [-0.25, 3.0, -4.0]])


@check
def against_finite_differences(student):
    op = student.get("Relu")()
    x = K.variable(X)
    terms = student.listed(
        "grad(...)", student.method(op.grad, "grad")([x], [op(x)], [K.ones_like(x)]), 1
    )
    student.tensor("grad(...)[0]", terms[0])
    student.gradient("Relu", op, [X])
    student.gradient("Relu(-x)", op, [-X])
    student.gradient("Relu(1e-4 * x)", op, [1e-4 * X])


@check
def at_zero(student):
    x = K.variable(np.zeros(2))
    slope = K.gradients(K.sum(student.get("Relu")()(x)), x)[0]
    student.close(Text("the gradient at 0", "在 0 处的梯度"), K.eval(slope), [0.0, 0.0])
    near = [1e-20, -1e-20, -0.0, 1e20]
    x = K.variable(near)
    slope = K.gradients(K.sum(student.get("Relu")()(x) * -3.0), x)[0]
    what = Text(f"the gradient at {near}, where -3 arrives,", f"在 {near} 处、传来 -3 时的梯度")
    student.close(what, K.eval(slope), [-3.0, 0.0, 0.0, -3.0])

"""Compares the student's gradient with finite differences; for a single unit it must be 0."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

X = np.array([[1.0, -2.0, 0.5], [0.1, 0.2, -1.0]])


@check
def against_finite_differences(student):
    op = student.get("Softmax")()
    x = K.variable(X)
    with student.without("grad", K_gradients=K.gradients):
        terms = student.method(op.grad, "grad")([x], [op(x)], [K.ones_like(x)])
    terms = student.listed("grad(...)", terms, 1)
    student.tensor("grad(...)[0]", terms[0])
    student.gradient("Softmax", op, [X])
    for shape in ((3, 3), (2, 2, 3), (2, 3, 2, 2), (4,)):
        numbers = np.linspace(-1.0, 2.0, int(np.prod(shape))).reshape(shape) ** 2
        student.gradient(f"Softmax of shape {shape}", op, [numbers])


@check
def what_it_computes(student):
    rows = np.array([[1000.0, 999.0, -1000.0], [0.0, 1.0, -1.0]])
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    found = K.eval(student.get("Softmax")()(K.variable(rows)))
    student.close("Softmax()(x)", found, powers / powers.sum(axis=1, keepdims=True))


@check
def with_one_unit(student):
    x = K.variable([[3.0], [-1.0]])
    loss = K.sum(K.square(student.get("Softmax")()(x) - 5.0))
    slope = K.eval(K.gradients(loss, x)[0])
    student.close(Text("the gradient with one unit", "单个单元时的梯度"), slope, [[0.0], [0.0]])

"""Compares the student's gradient with finite differences, and checks that it is a graph."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import check

X = np.array([[1.0, -2.0], [3.0, 0.5]])
Y = np.array([[4.0, 5.0], [-6.0, 7.0]])


@check
def what_it_sends_back(student):
    op = student.get("Mul")()
    x, y = K.variable(X), K.variable(Y)
    out = op(x, y)
    with student.without("grad", K_gradients=K.gradients):
        terms = student.method(op.grad, "grad")([x, y], [out], [K.ones_like(out)])
    terms = student.listed("grad(...)", terms, 2)
    for number, term in enumerate(terms):
        student.tensor(f"grad(...)[{number}]", term)


@check
def against_finite_differences(student):
    op = student.get("Mul")()
    student.gradient("Mul", op, [X, Y])
    student.gradient("Mul(x * [1, 0], y * [0, 1])", op, [X * [1.0, 0.0], Y * [[0.0, 1.0]]])
    student.gradient("Mul(Mul(x, y), y)", lambda x, y: op(op(x, y), y), [X, Y])

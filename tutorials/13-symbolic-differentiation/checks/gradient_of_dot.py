"""Compares the student's gradients with finite differences, for matrices of different shapes."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.learn import check

NUMBERS = np.random.RandomState(7)
X, Y = NUMBERS.normal(size=(2, 3)), NUMBERS.normal(size=(3, 4))
SQUARE = NUMBERS.normal(size=(2, 2))


@check
def the_shapes(student):
    op = student.get("Dot")()
    x, y = K.variable(X), K.variable(Y)
    out = op(x, y)
    with student.without("grad", K_gradients=K.gradients):
        terms = student.method(op.grad, "grad")([x, y], [out], [K.ones_like(out)])
    terms = student.listed("grad(...)", terms, 2)
    for number, (term, own) in enumerate(zip(terms, (x, y), strict=True)):
        student.tensor(f"grad(...)[{number}]", term)
        found = tuple(term.shape) if isinstance(term, Tensor) else ()
        student.same(f"grad(...)[{number}].shape", found, tuple(own.shape))


@check
def against_finite_differences(student):
    op = student.get("Dot")()
    student.gradient("Dot", op, [SQUARE, SQUARE + 1])
    student.gradient("Dot", op, [X, Y])

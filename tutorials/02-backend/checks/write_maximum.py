"""Runs the student's two functions on the same numbers; checks the graph of the symbolic one."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import applies_in_order
from kerascope.learn import Text, check

X = np.array([[1.0, -2.0, 3.0], [0.5, 5.0, -6.0]])
CASES = ((X, X[::-1]), (X, np.array([0.0, 1.0, 2.0])), (X, np.array(0.75)), (X, X))
LARGE = 2.0**40


@check
def on_arrays(student):
    maximum = student.function("numpy_maximum")
    for x, y in CASES:
        student.close("numpy_maximum(x, y)", maximum(x, y), np.maximum(x, y))
    what = Text(
        "numpy_maximum(x, y) - 2 ** 40, for numbers near 2 ** 40",
        "x、y 接近 2 ** 40 时的 numpy_maximum(x, y) - 2 ** 40",
    )
    for x, y in CASES:
        found = np.asarray(maximum(x + LARGE, y + LARGE))
        student.close(what, found - LARGE, np.maximum(x, y), 1e-3)


@check
def on_tensors(student):
    maximum = student.function("symbolic_maximum")
    for x, y in CASES:
        made = maximum(K.variable(x), K.variable(y))
        result = student.tensor("symbolic_maximum(x, y)", made)
        names = [apply.op.name for apply in applies_in_order([result])]
        student.require(
            "maximum" not in names,
            en=f"expected a graph without the op maximum, yours holds {', '.join(names)}",
            zh=f"运算图中不应有运算 maximum，你的图中有 {', '.join(names)}",
        )
        student.close("symbolic_maximum(x, y)", K.eval(result), np.maximum(x, y))


@check
def on_placeholders(student):
    x, y = K.placeholder(shape=(None, 3)), K.placeholder(shape=(3,))
    f = K.function([x, y], [student.function("symbolic_maximum")(x, y)])
    student.close("f([x, y])", f([X, X[0]])[0], np.maximum(X, X[0]))

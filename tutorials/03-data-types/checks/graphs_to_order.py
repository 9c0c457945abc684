"""Checks the ops and variables of the student's graphs, and the numbers that they compute."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import applies_in_order, leaves
from kerascope.learn import Text, check

ORDERS = {
    "written_twice": (["exp", "exp", "multiply"], lambda x: np.exp(x) ** 2),
    "shared": (["exp", "multiply"], lambda x: np.exp(x) ** 2),
    "sixteenth_power": (["multiply"] * 4, lambda x: x**16),
}


def made(student, name, x):
    return student.tensor(f"{name}(x)", student.function(name)(x))


@check
def the_ops(student):
    for name, (expected, _) in ORDERS.items():
        x = K.variable(1.5, name="x")
        found = [apply.op.name for apply in applies_in_order([made(student, name, x)])]
        what = Text(f"the ops in the graph of {name}(x)", f"{name}(x) 的图中的运算")
        student.same(what, sorted(found), expected)


@check
def the_numbers(student):
    for name, (_, function) in ORDERS.items():
        x = K.variable(1.5, name="x")
        y = made(student, name, x)
        student.close(f"K.eval({name}(x))", K.eval(y), function(1.5), 1e-4)
        K.set_value(x, 0.5)
        what = Text(
            f"K.eval({name}(x)) after K.set_value(x, 0.5)",
            f"K.set_value(x, 0.5) 之后的 K.eval({name}(x))",
        )
        student.close(what, K.eval(y), function(0.5), 1e-4)


@check
def the_frozen_one(student):
    x = K.variable(3.0, name="x")
    y = made(student, "frozen", x)
    names = [leaf.name for leaf in leaves([y]) if K.is_variable(leaf)]
    student.require(
        not names,
        en=f"expected no variable in the graph of frozen(x), yours holds {', '.join(names)}",
        zh=f"frozen(x) 的图中不应有变量，你的图中有 {', '.join(names)}",
    )
    K.set_value(x, 5.0)
    what = Text(
        "K.eval(frozen(x)) after x went from 3 to 5", "x 从 3 变为 5 之后的 K.eval(frozen(x))"
    )
    student.close(what, K.eval(y), 9.0)
    for number in (-0.5, 0.0, 10.0):
        x = K.variable(number, name="x")
        what = f"K.eval(frozen(x)) for x = {number:g}"
        student.close(what, K.eval(made(student, "frozen", x)), number**2)

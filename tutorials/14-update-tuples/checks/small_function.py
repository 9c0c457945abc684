"""Tests a call that returns W^2 = 4.0 and changes W to 1.6, and a swap of two variables."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check


@check
def construction_changes_nothing(student):
    w = K.variable(2.0, name="W")
    student.get("SmallFunction")([K.square(w)], [(w, 0.8 * w)])
    what = Text("W after the function was made", "创建函数之后的 W")
    student.close(what, K.get_value(w), 2.0)


@check
def outputs_belong_to_the_weights_before(student):
    w = K.variable(2.0, name="W")
    with student.without("SmallFunction", K_function=K.function):
        made(student, [K.square(w)], [])()
    f = made(student, [K.square(w)], [(w, 0.8 * w)])
    for number, (output, after) in enumerate([(4.0, 1.6), (2.56, 1.28)], 1):
        answer = student.listed("f()", f(), 1)
        what = Text(f"what call {number} returns", f"第 {number} 次调用的返回值")
        student.close(what, answer, [output])
        student.close(
            Text(f"W after call {number}", f"第 {number} 次调用之后的 W"), K.get_value(w), after
        )


@check
def two_variables_are_swapped(student):
    a, b = K.variable(1.0, name="a"), K.variable(9.0, name="b")
    f = made(student, [], [(a, b * 1.0), (b, a * 1.0)])
    f()
    found = [float(K.get_value(x)) for x in (a, b)]
    student.same(
        Text("(a, b) = (1, 9) after a swap", "(a, b) = (1, 9) 交换之后"), found, [9.0, 1.0]
    )


@check
def three_outputs_and_three_pairs(student):
    a, b, c = (K.variable(n * np.ones((2, 2)), name=x) for n, x in enumerate("abc", 1))
    f = made(student, [a + b, b * c, K.sum(c)], [(a, b + 0), (b, c + 0), (c, a + 0)])
    answer = student.listed("f()", f(), 3)
    for number, (found, value) in enumerate(zip(answer, (3.0, 6.0, 12.0), strict=True)):
        expected = np.full((2, 2) if number < 2 else (), value)
        student.close(
            Text(f"output {number} of three", f"三个输出中的第 {number} 个"), found, expected
        )
    what = Text("(a, b, c) = (1, 2, 3) after a rotation", "(a, b, c) = (1, 2, 3) 轮换之后")
    student.same(what, [float(K.get_value(x).mean()) for x in (a, b, c)], [2.0, 3.0, 1.0])


def made(student, outputs, updates):
    """Return one of the student's SmallFunctions, wrapped so that its calls are checked."""
    return student.method(student.get("SmallFunction")(outputs, updates), "f")

"""Tests the student's slopes on functions whose slopes are known."""

import numpy as np

from kerascope.learn import Text, check


@check
def known_slopes(student):
    slopes = student.function("slopes", changes=(1,))
    x = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 0.0]])
    cases = {
        "sum(x ** 2)": (lambda a: np.sum(a**2), 2 * x),
        "sum(exp(x))": (lambda a: np.sum(np.exp(a)), np.exp(x)),
        "sum(x ** 3)": (lambda a: np.sum(a**3), 3 * x**2),
        "sum(sin(30 * x))": (lambda a: np.sum(np.sin(30 * a)), 30 * np.cos(30 * x)),
        "x[0, 0] * x[1, 1]": (lambda a: a[0, 0] * a[1, 1], np.array([[3.0, 0, 0], [0, 1.0, 0]])),
    }
    for words, (f, expected) in cases.items():
        given = x.copy()
        student.close(f"slopes({words})", slopes(f, given), expected, tolerance=1e-6)
        student.require(
            np.allclose(given, x, rtol=0, atol=1e-9),  # x + h - h is x, except for rounding
            en=f"expected x to be as before, slopes({words}) has changed it",
            zh=f"x 应保持原样，但 slopes({words}) 改变了它",
        )


@check
def any_shape(student):
    slopes = student.function("slopes")
    what = Text("slopes of a number", "对单个数的 slopes")
    student.close(what, slopes(lambda a: float(a) ** 3, np.array(2.0)), 12.0, tolerance=1e-6)


@check
def one_axis_or_three(student):
    slopes = student.function("slopes", changes=(1,))
    for shape in ((4,), (2, 1, 3)):
        x = np.linspace(-1.0, 2.0, int(np.prod(shape))).reshape(shape)
        what = Text(
            f"slopes of sum(x ** 2), x of shape {shape},",
            f"x 的形状为 {shape} 时 sum(x ** 2) 的 slopes",
        )
        student.close(what, slopes(lambda a: np.sum(a**2), x.copy()), 2 * x, tolerance=1e-6)

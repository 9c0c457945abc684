"""Checks the student's update pairs before any call, and all variables after two calls."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

NOTHING = Text("", "")
W, B = [[1.0, -2.0], [3.0, 0.5]], [0.25, 4.0]


def problem():
    w, b = K.variable(W, name="w"), K.variable(B, name="b")
    return w, b, K.sum(K.square(w)) + K.sum(b * 3.0)


@check
def the_pairs(student):
    w, b, loss = problem()
    get_updates = student.get("RMSprop")().get_updates
    pairs = student.method(get_updates, "get_updates")(loss, [w, b])
    pairs = student.pairs("pairs", pairs)
    names = [variable.name if variable in (w, b) else "a" for variable, _ in pairs]
    what = Text("the variables of the pairs", "更新元组中的变量")
    student.order(what, names, ["a", "w", "a", "b"])
    for number, (variable, new_value) in enumerate(pairs):
        student.tensor(f"pairs[{number}][1]", new_value)
        what = Text(f"pairs[{number}][0] before any call", f"调用之前的 pairs[{number}][0]")
        expected = {"w": W, "b": B}.get(names[number], np.zeros(K.int_shape(variable)))
        student.close(what, K.get_value(variable), expected)


@check
def two_calls(student):
    follow(student, {"lr": 0.1, "rho": 0.75})


@check
def with_what_is_usual(student):
    follow(student, {})


@check
def with_a_large_epsilon(student):
    words = Text(" (epsilon = 0.5 added to the root)", "（epsilon = 0.5，加在根号之外）")
    follow(student, {"lr": 0.1, "rho": 0.75, "epsilon": 0.5}, words)


def follow(student, options, words=NOTHING):
    """Require the right accumulators and weights after each of two calls."""
    w, b, loss = problem()
    lr, rho, epsilon = {"lr": 0.001, "rho": 0.9, "epsilon": 1e-7, **options}.values()
    pairs = student.get("RMSprop")(**options).get_updates(loss, [w, b])
    step = K.function([], [loss], updates=pairs)
    numbers = {"w": np.array(W), "b": np.array(B)}
    means = {name: np.zeros_like(array) for name, array in numbers.items()}
    for call in (1, 2):
        step([])
        slopes = {"w": 2 * numbers["w"], "b": np.full(2, 3.0)}
        for place, (name, p) in enumerate((("w", w), ("b", b))):
            means[name] = rho * means[name] + (1 - rho) * slopes[name] ** 2
            numbers[name] = numbers[name] - lr * slopes[name] / (np.sqrt(means[name]) + epsilon)
            then, later = f"after call {call}{words.en}", f"（第 {call} 次调用之后）{words.zh}"
            what = Text(f"the accumulator of {name} {then}", f"{name} 的累加器{later}")
            student.close(what, K.get_value(pairs[2 * place][0]), means[name], 1e-4)
            what = Text(f"{name} {then}", f"{name}{later}")
            student.close(what, K.get_value(p), numbers[name], 1e-4)

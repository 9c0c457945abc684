"""Checks the student's update pairs, and the weights after calls with two learning rates."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

W, B = [[1.0, -2.0], [3.0, 0.5]], [0.25, 4.0]


def problem():
    w, b = K.variable(W, name="w"), K.variable(B, name="b")
    return w, b, K.sum(K.square(w)) + K.sum(b * 3.0)


@check
def the_pairs(student):
    w, b, loss = problem()
    get_updates = student.get("GradientDescent")(0.1).get_updates
    pairs = student.method(get_updates, "get_updates")(loss, [w, b])
    pairs = student.pairs("pairs", pairs, 2)
    for number, (param, (variable, new_value)) in enumerate(zip((w, b), pairs, strict=True)):
        student.same(f"pairs[{number}][0]", variable, param)
        student.tensor(f"pairs[{number}][1]", new_value)
        what = Text(f"{param.name} after get_updates", f"get_updates 之后的 {param.name}")
        student.close(what, K.get_value(param), W if param is w else B)


@check
def one_call_and_another(student):
    w, b, loss = problem()
    optimizer = student.get("GradientDescent")(0.1)
    step = K.function([], [loss], updates=optimizer.get_updates(loss, [w, b]))
    w_then, b_then = np.array(W), np.array(B)
    usual = student.get("GradientDescent")().lr
    student.close("GradientDescent().lr", K.get_value(usual), 0.01)
    for rate, words in ((0.1, "w"), (0.5, "w (lr = 0.5)")):
        K.set_value(optimizer.lr, rate)
        step([])
        w_then, b_then = w_then - rate * 2 * w_then, b_then - rate * 3.0
        student.close(words, K.get_value(w), w_then)
        student.close(words.replace("w", "b", 1), K.get_value(b), b_then)


@check
def any_number_of_parameters(student):
    for number in (1, 3):
        params = [K.variable(float(n), name=f"p{n}") for n in range(number, 0, -1)]
        loss = sum(K.square(p) for p in params)
        get_updates = student.get("GradientDescent")(0.25).get_updates
        pairs = student.method(get_updates, "get_updates")(loss, params)
        what = f"get_updates(loss, [{', '.join(p.name for p in params)}])"
        K.function([], [loss], updates=student.pairs(what, pairs, number))([])
        for place, p in enumerate(params):
            student.close(f"{p.name} ({what})", K.get_value(p), (number - place) / 2)

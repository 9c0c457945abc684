"""Tests the student's function with arrays, tensors, and an equal array that is another object."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check


@check
def identity_and_not_equality(student):
    is_among = student.function("is_among")
    ones, zeros = np.ones(3), np.zeros(3)
    x = K.variable(ones)
    cases = (
        ("is_among(x, [x])", (x, [x]), True, "", ""),
        ("is_among(x, [])", (x, []), False, "", ""),
        ("is_among(ones, [zeros, ones])", (ones, [zeros, ones]), True, "", ""),
        ("is_among(ones, [ones, zeros])", (ones, [ones, zeros]), True, "", ""),
        ("is_among(x, [x, 0])", (x, [x, 0]), True, "", ""),
        (
            "is_among(ones, [np.ones(3)])",
            (ones, [np.ones(3)]),
            False,
            "equal numbers, another object",
            "数值相等，但不是同一个对象",
        ),
        ("is_among(ones, [x])", (ones, [x]), False, "", ""),
        ("is_among(1.0, [ones])", (1.0, [ones]), False, "", ""),
        ("is_among(ones, [1.0])", (ones, [1.0]), False, "", ""),
        ("is_among(x, [ones, x, zeros])", (x, [ones, x, zeros]), True, "", ""),
        (
            "is_among([1, 2], [[1, 2]])",
            ([1, 2], [[1, 2]]),
            False,
            "equal lists, another object",
            "列表相等，但不是同一个对象",
        ),
    )
    for words, arguments, expected, en, zh in cases:
        student.same(words, is_among(*arguments), expected, Text(en, zh))

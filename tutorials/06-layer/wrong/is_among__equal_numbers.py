"""Equal numbers are taken for the same object.

en: expected is_among(ones, [np.ones(3)]) to be False, yours is True: equal numbers, another object
zh: is_among(ones, [np.ones(3)]) 应为 False，你的是 True：数值相等，但不是同一个对象
"""

import numpy as np


def is_among(x, inputs):
    return any(x is one or np.array_equal(x, one) for one in inputs)

"""Uses `in`, as Keras 2 does.

en: is_among(...) stopped at line 9 with ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all(); an array has many truth values; `if`, `in` and max() need one
zh: is_among(...) 中途出错（第 9 行）：ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()；数组有许多真值，而 if、in、max() 只要一个
"""


def is_among(x, inputs):
    return x in inputs

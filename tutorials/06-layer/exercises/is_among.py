"""Is this very object among the inputs?

Keras 2 asks in Layer.__call__: `if x in inputs_ls: x = K.identity(x)`. `in` compares with ==, and
on arrays == compares numbers, element by element.

Write `is_among(x, inputs)`: True if one of `inputs` is the object x itself. An equal array that is
another object is not among them; and no x may raise an error.
"""


def is_among(x, inputs):
    return ...

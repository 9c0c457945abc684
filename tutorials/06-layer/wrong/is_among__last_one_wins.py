"""Each comparison overwrites the result before it.

en: expected is_among(ones, [ones, zeros]) to be True, yours is False
zh: is_among(ones, [ones, zeros]) 应为 True，你的是 False
"""


def is_among(x, inputs):
    found = False
    for one in inputs:
        found = one is x
    return found

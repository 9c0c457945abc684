"""The lambda returns a number that was computed when it was made.

en: expected y() after box[0] = 2 to be 4, yours is 1
zh: box[0] = 2 之后的 y() 应为 4，你的是 1
"""


def with_lambda(box):
    y = box[0] ** 2
    return lambda: y


def with_graph(x):
    return x**2


def ops_of(y):
    return []

"""Works only for whole numbers, as in the example.

en: expected with_lambda([1.5])() to be 2.25, yours is 1
zh: with_lambda([1.5])() 应为 2.25，你的是 1
"""


def with_lambda(box):
    return lambda: int(box[0]) ** 2


def with_graph(x):
    return x**2


def ops_of(y):
    names = []
    while y.owner is not None:
        names.append(y.owner.op.name)
        y = y.owner.inputs[0]
    return names

"""The ops are listed in the order of computing.

en: ops_of(K.square(K.exp(x))): expected number 1 to be 'square', yours is 'exp'
zh: ops_of(K.square(K.exp(x)))：第 1 个应为 'square'，你的是 'exp'
"""


def with_lambda(box):
    return lambda: box[0] ** 2


def with_graph(x):
    return x**2


def ops_of(y):
    names = []
    while y.owner is not None:
        names.insert(0, y.owner.op.name)
        y = y.owner.inputs[0]
    return names

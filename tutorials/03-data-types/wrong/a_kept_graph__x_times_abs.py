"""The result is right only where x is positive.

en: expected K.eval(y) after K.set_value(x, -3.0) to be 9, yours is -9
zh: K.set_value(x, -3.0) 之后的 K.eval(y) 应为 9，你的是 -9
"""

from keras import backend as K


def with_lambda(box):
    return lambda: box[0] ** 2


def with_graph(x):
    return x * K.abs(x)


def ops_of(y):
    names = []
    while y.owner is not None:
        names.append(y.owner.op.name)
        y = y.owner.inputs[0]
    return names

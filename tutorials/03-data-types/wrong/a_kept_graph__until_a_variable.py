"""Assumes that every path ends at a variable.

en: ops_of(...) stopped at line 21 with AttributeError: 'NoneType' object has no attribute 'op'; the value before the dot is None
zh: ops_of(...) 中途出错（第 21 行）：AttributeError: 'NoneType' object has no attribute 'op'；点号前面的值是 None
"""

from keras import backend as K


def with_lambda(box):
    return lambda: box[0] ** 2


def with_graph(x):
    return x**2


def ops_of(y):
    names = []
    while not K.is_variable(y):
        names.append(y.owner.op.name)
        y = y.owner.inputs[0]
    return names

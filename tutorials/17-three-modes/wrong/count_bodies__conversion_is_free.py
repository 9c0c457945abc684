"""Assumes that a conversion in each call traces only once.

en: expected converted to be 3, yours is 1: a new function knows no trace
zh: converted 应为 3，你的是 1：新的函数没有跟踪过任何东西
"""

from keras import backend as K

eager = 3
graph = 1
columns = 2
converted = 1


def keep(body):
    kept = []

    def call(array):
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(K.function([x], [body(x)]))
        return kept[0]([array])[0]

    return call

"""Assumes that another number of columns needs no new trace.

en: expected columns to be 2, yours is 0: each number of columns has a trace of its own
zh: columns 应为 2，你的是 0：每种列数各跟踪一次
"""

from keras import backend as K

eager = 3
graph = 1
columns = 0
converted = 3


def keep(body):
    kept = []

    def call(array):
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(K.function([x], [body(x)]))
        return kept[0]([array])[0]

    return call

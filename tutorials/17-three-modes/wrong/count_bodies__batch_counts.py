"""Assumes that a new batch size needs a new trace.

en: expected graph to be 1, yours is 2: the size of the batch is left open
zh: graph 应为 1，你的是 2：批的大小是空着的
"""

from keras import backend as K

eager = 3
graph = 2
columns = 2
converted = 3


def keep(body):
    kept = []

    def call(array):
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(K.function([x], [body(x)]))
        return kept[0]([array])[0]

    return call

"""All functions share one cache, so the second gets the trace of the first.

en: expected the output of a second function, for x - 1, at [0, 0], to be -1, yours is 0
zh: 另一个函数（x - 1）的结果，[0, 0] 处应为 -1，你的是 0
"""

from keras import backend as K

eager = 3
graph = 1
columns = 2
converted = 3


kept = []


def keep(body):

    def call(array):
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(K.function([x], [body(x)]))
        return kept[0]([array])[0]

    return call

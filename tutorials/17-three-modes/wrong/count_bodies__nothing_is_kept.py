"""The body runs at each call, and each time a new function is made.

en: expected the number of runs of the body in 3 calls to be 1, yours is 3
zh: 3 次调用中函数体运行的次数应为 1，你的是 3
"""

from keras import backend as K

eager = 3
graph = 1
columns = 2
converted = 3


def keep(body):
    kept = []

    def call(array):
        kept.clear()
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(K.function([x], [body(x)]))
        return kept[0]([array])[0]

    return call

"""The result is a graph that depends on x.

en: expected no variable in the graph of frozen(x), yours holds x
zh: frozen(x) 的图中不应有变量，你的图中有 x
"""

from keras import backend as K


def written_twice(x):
    return K.exp(x) * K.exp(x)


def shared(x):
    e = K.exp(x)
    return e * e


def sixteenth_power(x):
    for _ in range(4):
        x = x * x
    return x


def frozen(x):
    return K.stop_gradient(x**2)

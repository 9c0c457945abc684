"""The shared exponential is computed twice as well.

en: expected the ops in the graph of shared(x) to be ['exp', 'multiply'], yours is ['exp', 'exp', 'multiply']
zh: shared(x) 的图中的运算应为 ['exp', 'multiply']，你的是 ['exp', 'exp', 'multiply']
"""

from keras import backend as K


def written_twice(x):
    return K.exp(x) * K.exp(x)


def shared(x):
    return K.exp(x) * K.exp(x)


def sixteenth_power(x):
    for _ in range(4):
        x = x * x
    return x


def frozen(x):
    return K.constant(K.get_value(x) ** 2)

"""Each step multiplies by x, not by the result so far.

en: expected K.eval(sixteenth_power(x)) to be 656.841, yours is 7.59375
zh: K.eval(sixteenth_power(x)) 应为 656.841，你的是 7.59375
"""

from keras import backend as K


def written_twice(x):
    return K.exp(x) * K.exp(x)


def shared(x):
    e = K.exp(x)
    return e * e


def sixteenth_power(x):
    y = x
    for _ in range(4):
        y = y * x
    return y


def frozen(x):
    return K.constant(K.get_value(x) ** 2)

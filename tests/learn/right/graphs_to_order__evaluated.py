from functools import reduce

from keras import backend as K


def written_twice(x):
    return reduce(lambda a, b: a * b, (K.exp(x), K.exp(x)))


def shared(x):
    both = [K.exp(x)] * 2
    return both[0] * both[1]


def sixteenth_power(x):
    return reduce(lambda power, _: power * power, range(4), x)


def frozen(x):
    return K.constant(K.eval(x * x))

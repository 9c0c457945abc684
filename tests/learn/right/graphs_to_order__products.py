from keras import backend as K


def written_twice(x):
    first, second = K.exp(x), K.exp(x)
    return first * second


def shared(x):
    return (lambda e: e * e)(K.exp(x))


def sixteenth_power(x):
    x2 = x * x
    x4 = x2 * x2
    x8 = x4 * x4
    return x8 * x8


def frozen(x):
    number = K.get_value(x)
    return K.constant(number * number)

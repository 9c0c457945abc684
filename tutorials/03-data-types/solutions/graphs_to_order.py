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
    return K.constant(K.get_value(x) ** 2)

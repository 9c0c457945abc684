from keras import backend as K

eager = 3
graph = 1
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

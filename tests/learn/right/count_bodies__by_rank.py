from functools import cache

from keras import backend as K

eager = converted = 3
graph, columns = range(1, 3)


def keep(body):
    @cache
    def function(shape):
        x = K.placeholder((None, *shape))
        return K.function([x], [body(x)])

    return lambda array: function(array.shape[1:])([array])[0]

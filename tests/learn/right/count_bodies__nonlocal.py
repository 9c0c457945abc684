from keras import backend as K

eager = converted = len((8, 8, 3))
columns = len({8, 8, 3})
graph = 1


def keep(body):
    function = None

    def call(array):
        nonlocal function
        if function is None:
            x = K.placeholder(ndim=array.ndim)
            function = K.function([x], [body(x)])
        (result,) = function([array])
        return result

    return call

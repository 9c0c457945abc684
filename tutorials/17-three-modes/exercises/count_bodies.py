"""How often does the body run?

    layer = Spy()
    kept = ks.compiled(layer)

    eager        for n in (8, 8, 3): layer(np.ones((n, 5)))
    graph        for n in (8, 8, 3): kept(np.ones((n, 5)))
    columns      for n in (8, 8, 3): kept(np.ones((5, n)))
    converted    for n in (8, 8, 3): ks.compiled(layer)(np.ones((n, 5)))

Predict how many times the body of the layer runs in each line. The lines follow one another.

And write a cache that keeps a trace: `keep(body)` returns a function of one array. At its first
call it runs the body on a placeholder and makes a K.function; all later calls only use that.
"""

from keras import backend as K

eager = ...
graph = ...
columns = ...
converted = ...


def keep(body):
    kept = []

    def call(array):
        if not kept:
            x = K.placeholder((None, *array.shape[1:]))
            kept.append(...)
        return kept[0]([array])[0]

    return call

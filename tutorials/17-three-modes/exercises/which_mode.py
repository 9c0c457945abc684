"""Which mode does a call take?

A layer is called in five ways:

    on_an_array         layer(np.ones((4, 3)))
    compiled            ks.compiled(layer)(np.ones((4, 3)))
    on_an_input         layer(Input(shape=(3,)))
    on_a_placeholder    layer(K.placeholder((None, 3)))
    on_an_op            layer(Input(shape=(3,)) * 2)

Predict the mode of each: "eager" (the body runs on numbers), "graph" (it runs on symbols, and
nothing is recorded) or "symbolic" (it runs on symbols, and a Node is made).

And write `mode_of(x)`: the mode of `layer(x)` for an array or a tensor x, when no trace is being
made.
"""

from keras import backend as K

on_an_array = ...
compiled = ...
on_an_input = ...
on_a_placeholder = ...
on_an_op = ...


def mode_of(x):
    return ...

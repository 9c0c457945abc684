from keras import backend as K

on_an_array = "eager"
compiled = "graph"
on_an_input = "symbolic"
on_a_placeholder = "graph"
on_an_op = "graph"


def mode_of(x):
    if not K.is_tensor(x):
        return "eager"
    return "symbolic" if K.is_keras_tensor(x) else "graph"

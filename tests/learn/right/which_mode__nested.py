from keras import backend as K

on_an_array = "eager"
on_an_input = "symbolic"
compiled = on_a_placeholder = on_an_op = "graph"


def mode_of(x):
    try:
        return "symbolic" if K.is_keras_tensor(x) else "graph"
    except ValueError:
        return "eager"

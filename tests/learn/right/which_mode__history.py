import numpy as np

on_an_array, compiled, on_an_input = "eager", "graph", "symbolic"
on_a_placeholder = on_an_op = "graph"


def mode_of(x):
    if isinstance(x, np.ndarray):
        return "eager"
    return "graph" if x._keras_history is None else "symbolic"

"""Assumes that the output of an op has a history.

en: expected on_an_op to be 'graph', yours is 'symbolic': the body ran on a symbol, and no Node was made
zh: on_an_op 应为 'graph'，你的是 'symbolic'：函数体对符号运行，没有造 Node
"""

from keras import backend as K

on_an_array = "eager"
compiled = "graph"
on_an_input = "symbolic"
on_a_placeholder = "graph"
on_an_op = "symbolic"


def mode_of(x):
    if not K.is_tensor(x):
        return "eager"
    return "symbolic" if K.is_keras_tensor(x) else "graph"

"""Assumes that every symbol makes a Node.

en: expected on_a_placeholder to be 'graph', yours is 'symbolic': the body ran on a symbol, and no Node was made
zh: on_a_placeholder 应为 'graph'，你的是 'symbolic'：函数体对符号运行，没有造 Node
"""

from keras import backend as K

on_an_array = "eager"
compiled = "graph"
on_an_input = "symbolic"
on_a_placeholder = "symbolic"
on_an_op = "graph"


def mode_of(x):
    if not K.is_tensor(x):
        return "eager"
    return "symbolic" if K.is_keras_tensor(x) else "graph"

"""Assumes that the call is eager, because its inputs and outputs are arrays.

en: expected compiled to be 'graph', yours is 'eager': the body ran on a symbol, and no Node was made
zh: compiled 应为 'graph'，你的是 'eager'：函数体对符号运行，没有造 Node
"""

from keras import backend as K

on_an_array = "eager"
compiled = "eager"
on_an_input = "symbolic"
on_a_placeholder = "graph"
on_an_op = "graph"


def mode_of(x):
    if not K.is_tensor(x):
        return "eager"
    return "symbolic" if K.is_keras_tensor(x) else "graph"

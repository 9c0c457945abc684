"""mode_of checks only the type.

en: expected mode_of(K.exp(Input(shape=(3,)))) to be 'graph', yours is 'symbolic': the body ran on a symbol, and no Node was made
zh: mode_of(K.exp(Input(shape=(3,)))) 应为 'graph'，你的是 'symbolic'：函数体对符号运行，没有造 Node
"""

from keras import backend as K

on_an_array = "eager"
compiled = "graph"
on_an_input = "symbolic"
on_a_placeholder = "graph"
on_an_op = "graph"


def mode_of(x):
    if not K.is_tensor(x):
        return "eager"
    return "symbolic"

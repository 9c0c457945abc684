"""Two inputs of the same shape are two keys.

en: expected runs of the graph in one_hit to be 1, yours is 2
zh: one_hit 中图的运行次数应为 1，你的是 2
"""

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    shape = model.input_shape[1:]
    return model(Input(shape=shape)), model(Input(shape=shape))

"""Assumes that each batch calls both layers.

en: expected layer_calls to be 0, yours is 12: the model was built before
zh: layer_calls 应为 0，你的是 12：模型早已搭建好了
"""

from kerascope.layers import Input

layer_calls = 12
graph_runs = 0
function_calls = 6


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

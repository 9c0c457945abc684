"""Assumes that the graph is run in the first epoch, as S4:309 says.

en: expected graph_runs to be 0, yours is 1: nothing runs it in fit
zh: graph_runs 应为 0，你的是 1：fit 中没有谁去运行它
"""

from kerascope.layers import Input

layer_calls = 0
graph_runs = 1
function_calls = 6


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

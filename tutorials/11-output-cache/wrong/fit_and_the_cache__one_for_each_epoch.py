"""Assumes that the function is called once in each epoch.

en: expected function_calls to be 6, yours is 3: once for each batch
zh: function_calls 应为 6，你的是 3：每批一次
"""

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 3


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

"""The model is called once, and its output is returned twice.

en: expected the calls of the model in one_hit to be 2, yours is 1
zh: one_hit 中调用模型的次数应为 2，你的是 1
"""

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    output = model(new)
    return output, output

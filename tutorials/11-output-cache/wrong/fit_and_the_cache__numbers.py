"""The model is called on numbers, which are not stored.

en: expected entries of the cache after one_run to be 1, yours is 0
zh: one_run 之后缓冲的项数应为 1，你的是 0
"""

import numpy as np

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model(np.ones((1, *model.input_shape[1:])))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

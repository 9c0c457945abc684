"""Trains the model once more, which does not run its graph.

en: expected runs of the graph in one_run to be 1, yours is 0
zh: one_run 中图的运行次数应为 1，你的是 0
"""

import numpy as np

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model.fit(np.ones((2, 4)), np.ones(2), verbose=0)


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

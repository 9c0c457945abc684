"""Works only for the model of the task, whose rows have four numbers.

en: one_run(...) stopped at line 15 with ShapeError: Model 'model_3': expected an input of shape (None, 7), got (None, 4). Dense 'dense_6': expected an input with size 7 on axis -1, as at the first call, got 4 in (None, 4). Use another layer for another size.
zh: one_run(...) 中途出错（第 15 行）：ShapeError: Model 'model_3': expected an input of shape (None, 7), got (None, 4). Dense 'dense_6': expected an input with size 7 on axis -1, as at the first call, got 4 in (None, 4). Use another layer for another size.
"""

from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model(Input(shape=(4,)))


def one_hit(model):
    new = Input(shape=(4,))
    return model(new), model(new)

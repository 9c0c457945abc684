"""Works only for the model of the task, whose rows have four numbers.

en: one_run(...) stopped at line 15 with ShapeError: Model 'model_3': input has shape (None, 4); expected (None, 7). Dense 'dense_6': input has size 4 on axis -1 of (None, 4); expected 7, as when the layer was built. Use another layer for another size.
zh: one_run(...) 中途出错（第 15 行）：ShapeError: Model 'model_3': input has shape (None, 4); expected (None, 7). Dense 'dense_6': input has size 4 on axis -1 of (None, 4); expected 7, as when the layer was built. Use another layer for another size.
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

"""Why does fit never touch the cache?

A model of two layers is built, compiled and trained: 50 rows, batches of 32, 3 epochs. Predict, for
the training alone: how often is a layer called, how often is the graph run, and how often is the
train function called?

Then make the cache work. `one_run(model)` does something with the trained model that runs its
graph exactly once and adds exactly one entry to model._output_tensor_cache. And `one_hit(model)`
calls the model twice, so that its graph runs only once, and returns both outputs.
"""

layer_calls = ...
graph_runs = ...
function_calls = ...


def one_run(model): ...


def one_hit(model):
    return ...

"""Why does fit never touch the cache?

A model of two layers is built, compiled and trained: 50 rows, batches of 32, 3 epochs. Predict, for
the training alone: how often is a layer called, how often is the graph run, and how often is the
train function called?

Then make the cache work. `one_run(model)` shall do something with the trained model that runs its
graph exactly once and leaves exactly one new entry in model._output_tensor_cache. And
`one_hit(model)` shall call the model twice, so that its graph is run once; it returns both outputs.
"""

layer_calls = ...
graph_runs = ...
function_calls = ...


def one_run(model): ...


def one_hit(model):
    return ...

"""Freeze a layer, and prove when that takes effect.

A model of two Dense layers, "first" and "second", is compiled. Then you write

    model.get_layer("first").trainable = False

Predict: how many trainable_weights does the layer have right after this line? Does a training step
still change its weights? And after the model is compiled once more?

Then write the proof and the remedy:

`weights_that_move(model, rows, targets)`: does one step, model.train_on_batch, and returns the
names of all weights that it has changed, as a list. Afterwards the model has its old numbers again.
`freeze(model, name)`: freezes the layer of this name, with effect from the next step on. The
model keeps its optimizer and its loss.
"""

trainable_weights_left = ...
moves_before_compile = ...
moves_after_compile = ...


def weights_that_move(model, rows, targets):
    return ...


def freeze(model, name):
    return ...

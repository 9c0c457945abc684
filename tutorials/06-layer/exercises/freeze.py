"""Freeze a layer, and prove when it counts.

A model of two Dense layers, "first" and "second", is compiled. Then somebody writes

    model.get_layer("first").trainable = False

Predict: how many trainable_weights has the layer right after this line? Does a training step still
change its weights? Does it, when the model was compiled once more?

Then write the proof and the remedy:

`weights_that_move(model, rows, targets)`: does one step, model.train_on_batch, and returns the
names of all weights that it has changed, as a list. Afterwards the model has its old numbers again.
`freeze(model, name)`: freezes the layer of this name, so that it counts from the next step on. The
model keeps its optimizer and its loss.
"""

trainable_weights_left = ...
moves_before_compile = ...
moves_after_compile = ...


def weights_that_move(model, rows, targets):
    return ...


def freeze(model, name):
    return ...

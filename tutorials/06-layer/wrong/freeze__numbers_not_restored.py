"""The step is not undone.

en: expected the model to have its old numbers after weights_that_move, yours has new ones
zh: weights_that_move 之后模型里的数应恢复原样，你的没有
"""

import numpy as np

trainable_weights_left = 0
moves_before_compile = True
moves_after_compile = False


def weights_that_move(model, rows, targets):
    names = [weight.name for layer in model.layers for weight in layer.weights]
    before = model.get_weights()
    model.train_on_batch(rows, targets)
    after = model.get_weights()
    return [
        name
        for name, old, new in zip(names, before, after, strict=True)
        if not np.array_equal(old, new)
    ]


def freeze(model, name):
    model.get_layer(name).trainable = False
    model.compile(model.optimizer, model.loss)

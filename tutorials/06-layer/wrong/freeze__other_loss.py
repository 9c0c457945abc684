"""The model is compiled with another loss.

en: expected model.loss to be 'mse', yours is 'mae'
zh: model.loss 应为 'mse'，你的是 'mae'
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
    model.set_weights(before)
    return [
        name
        for name, old, new in zip(names, before, after, strict=True)
        if not np.array_equal(old, new)
    ]


def freeze(model, name):
    model.get_layer(name).trainable = False
    model.compile(model.optimizer, "mae")

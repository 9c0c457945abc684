"""The layer is frozen, but the model is not compiled again.

en: expected the weights that move after freeze(model, 'first') to be ['second/bias', 'second/kernel'], yours is ['first/bias', 'first/kernel', 'second/bias', 'second/kernel']
zh: freeze(model, 'first') 之后变动的权重应为 ['second/bias', 'second/kernel']，你的是 ['first/bias', 'first/kernel', 'second/bias', 'second/kernel']
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

"""Changes that cancel are taken for no change.

en: expected the weights that move by slopes whose sum is 0 to be ['first/bias', 'first/kernel', 'second/bias'], yours is ['first/bias', 'second/bias']
zh: 梯度之和为 0 时变动的权重应为 ['first/bias', 'first/kernel', 'second/bias']，你的是 ['first/bias', 'second/bias']
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
        name for name, old, new in zip(names, before, after, strict=True) if (new - old).sum() != 0
    ]


def freeze(model, name):
    model.get_layer(name).trainable = False
    model.compile(model.optimizer, model.loss)

"""Compiles with a new optimizer of the same class and rate, so its state is lost.

en: expected the optimizer's momentum after freeze(...) to be 0.5, yours is 0
zh: freeze(...) 之后优化器的 momentum 应为 0.5，你的是 0
"""

import numpy as np
from keras import backend as K

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
    rate = K.get_value(model.optimizer.lr)
    model.compile(type(model.optimizer)(lr=rate), model.loss)

import numpy as np
from keras import backend as K

trainable_weights_left = 0
moves_before_compile = True
moves_after_compile = False


def weights_that_move(model, rows, targets):
    before = list(map(np.copy, K.batch_get_value(model.weights)))
    model.train_on_batch(rows, targets)
    after = K.batch_get_value(model.weights)
    moves = [bool(np.abs(a - b).max() > 0) for a, b in zip(after, before)]
    K.batch_set_value(list(zip(model.weights, before)))
    return [weight.name for weight, moved in zip(model.weights, moves) if moved]


def freeze(model, name):
    setattr(model.get_layer(name), "trainable", False)
    model.compile(model.optimizer, loss=model.loss)

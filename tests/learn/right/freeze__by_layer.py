import numpy as np
from keras import backend as K

trainable_weights_left, moves_before_compile, moves_after_compile = 0, True, False


def weights_that_move(model, rows, targets):
    old = {weight: np.array(K.get_value(weight)) for weight in model.weights}
    model.train_on_batch(rows, targets)
    names = [weight.name for weight in old if (K.get_value(weight) != old[weight]).any()]
    for weight, array in old.items():
        K.set_value(weight, array)
    return names


def freeze(model, name):
    layer = model.get_layer(name=name)
    layer.trainable = False
    model.compile(optimizer=model.optimizer, loss=model.loss)

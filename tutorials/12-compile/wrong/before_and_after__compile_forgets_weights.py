"""Assumes that a second compile resets the weights.

en: expected weights_stay to be True, yours is False
zh: weights_stay 应为 True，你的是 False
"""

from keras import backend as K

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = False


def loss_of(model, x, y):
    (loss,) = K.function([*model.inputs, *model.targets], [model.total_loss])([x, y])
    return loss

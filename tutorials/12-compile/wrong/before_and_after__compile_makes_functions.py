"""Assumes that compile makes the train function.

en: expected train_function to be 'fit', yours is 'compile'
zh: train_function 应为 'fit'，你的是 'compile'
"""

from keras import backend as K

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "compile"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    (loss,) = K.function([*model.inputs, *model.targets], [model.total_loss])([x, y])
    return loss

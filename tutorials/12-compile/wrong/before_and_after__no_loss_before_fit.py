"""Assumes that compile only stores words, as S4:356 suggests.

en: expected total_loss to be 'compile', yours is 'fit'
zh: total_loss 应为 'compile'，你的是 'fit'
"""

from keras import backend as K

predictions = "made"
total_loss = "fit"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    (loss,) = K.function([*model.inputs, *model.targets], [model.total_loss])([x, y])
    return loss

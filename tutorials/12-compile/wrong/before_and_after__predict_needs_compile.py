"""Assumes that predicting needs a loss.

en: expected predictions to be 'made', yours is 'compile'
zh: predictions 应为 'made'，你的是 'compile'
"""

from keras import backend as K

predictions = "compile"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    (loss,) = K.function([*model.inputs, *model.targets], [model.total_loss])([x, y])
    return loss

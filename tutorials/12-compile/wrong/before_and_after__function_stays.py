"""Assumes that the train function stays when the model is compiled again.

en: expected train_function_stays to be False, yours is True: there is a new loss to be trained
zh: train_function_stays 应为 False，你的是 True：要训练的已是新的损失
"""

from keras import backend as K

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = True
weights_stay = True


def loss_of(model, x, y):
    (loss,) = K.function([*model.inputs, *model.targets], [model.total_loss])([x, y])
    return loss

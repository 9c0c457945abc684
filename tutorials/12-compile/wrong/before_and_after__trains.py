"""Computes the loss with a step of training.

en: expected loss_of to leave the weights alone, yours has trained the model
zh: loss_of 不应改动权重，你的却训练了模型
"""

from keras import backend as K

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    return model.train_on_batch(x, y)

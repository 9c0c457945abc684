"""Calls test_on_batch, which makes the function.

en: expected loss_of to do the work itself, yours calls model.test_on_batch
zh: loss_of 应自己完成，你的把它交给了 model.test_on_batch
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
    return model.test_on_batch(x, y)

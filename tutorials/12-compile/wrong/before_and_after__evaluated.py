"""Calls evaluate, which makes the function.

en: expected loss_of to do the work itself, yours calls model.evaluate
zh: loss_of 应自己完成，你的把它交给了 model.evaluate
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
    return model.evaluate(x, y, verbose=0)

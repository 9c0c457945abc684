"""Computes the mse of the predictions, whatever the loss is.

en: expected loss_of(...) of a model with mae and l2(0.5) to be 17, yours is 341.5
zh: loss_of(...)（mae 加 l2(0.5)）应为 17，你的是 341.5
"""

import numpy as np

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    return np.mean((model.predict(x) - y) ** 2)

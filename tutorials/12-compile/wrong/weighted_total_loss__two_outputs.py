"""Works for two outputs and ignores a third.

en: expected the total loss with weights [2.0, 0.25, 1.5] to be 2.12717, yours is 1.53463
zh: 权重为 [2.0, 0.25, 1.5] 时的总损失应为 2.12717，你的是 1.53463
"""

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = 0.0
    for y_true, y_pred, function, weight in list(
        zip(targets, outputs, functions, loss_weights, strict=True)
    )[:2]:
        total = total + weight * K.mean(function(y_true, y_pred))
    return total

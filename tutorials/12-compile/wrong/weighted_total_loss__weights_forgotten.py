"""All outputs have the same weight.

en: expected the total loss with weights [0.5, 3.0] to be 2.12663, yours is 1.2865
zh: 权重为 [0.5, 3.0] 时的总损失应为 2.12663，你的是 1.2865
"""

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = 0.0
    for y_true, y_pred, function, weight in zip(
        targets, outputs, functions, loss_weights, strict=True
    ):
        total = total + K.mean(function(y_true, y_pred))
    return total

"""The losses are not averaged over the rows.

en: expected the shape of the total loss to be (), yours is (None,)
zh: 总损失的形状应为 ()，你的是 (None,)
"""

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = 0.0
    for y_true, y_pred, function, weight in zip(
        targets, outputs, functions, loss_weights, strict=True
    ):
        total = total + weight * function(y_true, y_pred)
    return total

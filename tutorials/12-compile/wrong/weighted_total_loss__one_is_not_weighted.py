"""The weight of a single output is left out.

en: expected the total loss with weights [4.0] to be 2.77259, yours is 0.693147
zh: 权重为 [4.0] 时的总损失应为 2.77259，你的是 0.693147
"""

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = 0.0
    for y_true, y_pred, function, weight in zip(
        targets, outputs, functions, loss_weights, strict=True
    ):
        total = total + weight * K.mean(function(y_true, y_pred))
    return total if len(outputs) > 1 else total / loss_weights[0]

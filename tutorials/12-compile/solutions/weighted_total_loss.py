from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = 0.0
    for y_true, y_pred, function, weight in zip(
        targets, outputs, functions, loss_weights, strict=True
    ):
        total = total + weight * K.mean(function(y_true, y_pred))
    return total

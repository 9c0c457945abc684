from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = None
    for i in range(len(outputs)):
        loss = K.sum(functions[i](targets[i], outputs[i])) / K.cast(
            K.shape(outputs[i])[0], "float32"
        )
        weighted = K.constant(loss_weights[i]) * loss
        total = weighted if total is None else total + weighted
    return total

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    if not targets:
        return K.constant(0.0)
    rows = functions[0](targets[0], outputs[0])
    others = total_loss(targets[1:], outputs[1:], functions[1:], loss_weights[1:])
    return loss_weights[0] * K.mean(rows, axis=-1) + others

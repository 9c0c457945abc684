from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    losses = [f(target, output) for f, target, output in zip(functions, targets, outputs)]
    return sum(K.mean(loss) * weight for loss, weight in zip(losses, loss_weights))

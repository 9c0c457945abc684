import numpy as np

trainable_weights_left = len([])
moves_before_compile = not False
moves_after_compile = not moves_before_compile


def weights_that_move(model, rows, targets):
    first = model.get_weights()
    model.fit(rows, targets, epochs=1, batch_size=len(rows), verbose=0)
    second = model.get_weights()
    model.set_weights(first)
    moved = []
    weights = [weight for layer in model.layers for weight in layer.weights]
    for weight, one, other in zip(weights, first, second):
        if not np.allclose(one, other, rtol=0, atol=0):
            moved.append(weight.name)
    return moved


def freeze(model, name):
    for layer in model.layers:
        if layer.name == name:
            layer.trainable = False
    same = type(model.optimizer).from_config(model.optimizer.get_config())
    model.compile(same, model.loss)

import numpy as np
from keras import backend as K


def norms(tensors, model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    feeds = model.inputs + model.targets + model.sample_weights
    found = []
    for slope in K.gradients(model.total_loss, tensors):
        array = 0.0 if slope is None else K.function(feeds, [slope])(x + y + sample_weights)[0]
        found.append(np.abs(array).max())
    return found


def where_it_dies(model, x, y):
    layers = [layer for layer in model.layers[1:]][::-1]
    sizes = norms([model.output] + [layer.input for layer in layers], model, x, y)
    names = ["loss"] + [layer.name for layer in layers]
    dead = [name for name, size in zip(names, sizes) if size == 0]
    return dead[0] if dead else None

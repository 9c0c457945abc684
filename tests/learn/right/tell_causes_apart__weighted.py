import numpy as np
from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    units = p.shape[-1]
    masks = [K.constant(row) for row in np.eye(units)]
    slopes = K.gradients(model.total_loss, [p])
    slopes += [K.gradients(K.sum(p * mask), [z])[0] for mask in masks]
    largest = [np.abs(a).max() for a in K.function(feeds, slopes)(x + y + sample_weights)]
    return [
        name for name, size in (("loss", largest[0]), ("activation", max(largest[1:]))) if size == 0
    ]

"""Slopes whose sum is 0 are taken for 0.

en: expected causes of square over 1, with mse to be [], yours is ['activation']
zh: causes（1 个单元的 square，配 mse）应为 []，你的是 ['activation']
"""

from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    of_loss = K.gradients(model.total_loss, [p])
    of_units = [K.gradients(K.sum(p[:, k]), [z])[0] for k in range(p.shape[-1])]
    at_p, *at_z = K.function(feeds, of_loss + of_units)(x + y + sample_weights)
    found = []
    if not at_p.any():
        found.append("loss")
    if not any(slope.sum() for slope in at_z):
        found.append("activation")
    return found

"""A very small gradient is taken for 0.

en: expected causes of sigmoid over 1, with faint_mse to be [], yours is ['loss']
zh: causes（1 个单元的 sigmoid，配 faint_mse）应为 []，你的是 ['loss']
"""

import numpy as np
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
    if np.allclose(at_p, 0):
        found.append("loss")
    if not any(slope.any() for slope in at_z):
        found.append("activation")
    return found

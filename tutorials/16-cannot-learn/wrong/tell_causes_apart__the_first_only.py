"""The first cause hides the second.

en: expected causes of softmax over 1, with binary_crossentropy to be ['loss', 'activation'], yours is ['loss']
zh: causes（1 个单元的 softmax，配 binary_crossentropy）应为 ['loss', 'activation']，你的是 ['loss']
"""

from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    slopes = K.gradients(model.total_loss, [p, z])
    at_p, at_z = K.function(feeds, slopes)(x + y + sample_weights)
    if not at_p.any():
        return ["loss"]
    return [] if at_z.any() else ["activation"]

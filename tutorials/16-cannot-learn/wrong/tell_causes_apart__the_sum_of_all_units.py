"""Takes the gradient of the sum of all units, which for softmax is always 1.

en: expected causes of softmax over 3, with categorical_crossentropy to be [], yours is ['activation']
zh: causes（3 个单元的 softmax，配 categorical_crossentropy）应为 []，你的是 ['activation']
"""

from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    slopes = K.gradients(model.total_loss, [p]) + K.gradients(K.sum(p), [z])
    at_p, at_z = K.function(feeds, slopes)(x + y + sample_weights)
    at_z = at_z.round(6)
    names = ("loss", "activation")
    return [name for name, slope in zip(names, (at_p, at_z), strict=True) if not slope.any()]

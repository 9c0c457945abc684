"""The gradient of the loss at z is taken for the activation's own.

en: expected causes of linear over 1, bias 50, with binary_crossentropy to be ['loss'], yours is ['loss', 'activation']
zh: causes（1 个单元的 linear、偏置 50，配 binary_crossentropy）应为 ['loss']，你的是 ['loss', 'activation']
"""

from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    slopes = K.gradients(model.total_loss, [p, z])
    at_p, at_z = K.function(feeds, slopes)(x + y + sample_weights)
    names = ("loss", "activation")
    return [name for name, slope in zip(names, (at_p, at_z), strict=True) if not slope.any()]

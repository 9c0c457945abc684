"""Which of the two causes is it?

The last layer of `model` is an Activation: z goes in, p comes out, and the loss is computed from
p. When no gradient arrives at z, the loss or the activation may be the cause, or both. The gradient
at z alone does not show which.

Write `causes(model, x, y)`, which returns a list, in this order, of

- "loss", if the gradient of the loss at p is 0 everywhere;
- "activation", if p does not depend on z: the gradient of each unit of p at z is 0 everywhere.

Each must be found whether the other is present or not.
"""

from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)
    return ...

import numpy as np
from keras import backend as K
from keras.layers import Input
from keras.models import Model


def causes(model, x, y):
    last = model.layers[-1]
    z = Model(model.input, last.input).predict(x).astype("float64")
    feeds = model.inputs + model.targets + model.sample_weights
    xs, ys, sample_weights = model._standardize_user_data(x, y)
    (slope,) = K.gradients(model.total_loss, [last.output])
    (at_p,) = K.function(feeds, [slope])(xs + ys + sample_weights)
    found = [] if np.count_nonzero(at_p) else ["loss"]
    new = K.placeholder((None, z.shape[-1]), dtype="float64")
    out = last.activation(new)
    slopes = [K.gradients(K.sum(out[:, k]), [new])[0] for k in range(z.shape[-1])]
    if not sum(np.count_nonzero(array) for array in K.function([new], slopes)([z])):
        found += ["activation"]
    return found

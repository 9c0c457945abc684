"""A very small gradient is taken for 0.

en: expected where_it_dies of a model whose slopes are about 1e-9 to be None, yours is 'loss'
zh: where_it_dies（梯度约为 1e-9 的模型）应为 None，你的是 'loss'
"""

import numpy as np
from keras import backend as K


def gradients_at(tensors, model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    feeds = model.inputs + model.targets + model.sample_weights
    slopes = K.gradients(model.total_loss, tensors)
    there = [slope for slope in slopes if slope is not None]
    arrays = iter(K.function(feeds, there)(x + y + sample_weights) if there else [])
    return [None if slope is None else next(arrays) for slope in slopes]


def is_dead(array):
    return array is None or np.allclose(array, 0)


def where_it_dies(model, x, y):
    layers = model.layers[:0:-1]
    tensors = [model.output, *(layer.input for layer in layers)]
    names = ["loss", *(layer.name for layer in layers)]
    arrays = gradients_at(tensors, model, x, y)
    return next((n for n, array in zip(names, arrays, strict=True) if is_dead(array)), None)

"""Looks at weights, so a layer without weights is overlooked.

en: expected where_it_dies of an activation of its own to be 'shares', yours is 'two'
zh: where_it_dies（单独成层的激活函数）应为 'shares'，你的是 'two'
"""

from keras import backend as K


def gradients_at(tensors, model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    feeds = model.inputs + model.targets + model.sample_weights
    slopes = K.gradients(model.total_loss, tensors)
    there = [slope for slope in slopes if slope is not None]
    arrays = iter(K.function(feeds, there)(x + y + sample_weights) if there else [])
    return [None if slope is None else next(arrays) for slope in slopes]


def where_it_dies(model, x, y):
    (array,) = gradients_at([model.output], model, x, y)
    if not array.any():
        return "loss"
    for layer in model.layers[:0:-1]:
        arrays = gradients_at(layer.weights, model, x, y)
        if arrays and all(array is None or not array.any() for array in arrays):
            return layer.name
    return None

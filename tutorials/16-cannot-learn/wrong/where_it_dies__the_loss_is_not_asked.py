"""Starts at the last layer, without checking the model's output.

en: expected where_it_dies of softmax with crossentropy to be 'loss', yours is 'last'
zh: where_it_dies（softmax 配交叉熵）应为 'loss'，你的是 'last'
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
    for layer in model.layers[:0:-1]:
        (array,) = gradients_at([layer.input], model, x, y)
        if array is None or not array.any():
            return layer.name
    return None

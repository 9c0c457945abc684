"""A missing gradient is not recognised as dead.

en: expected where_it_dies of a layer that stops gradients to be 'wall', yours is None; did where_it_dies(...) end without `return`?
zh: where_it_dies（阻断梯度的层）应为 'wall'，你的是 None；where_it_dies(...) 是不是忘了 `return`？
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
    layers = model.layers[:0:-1]
    tensors = [model.output, *(layer.input for layer in layers)]
    names = ["loss", *(layer.name for layer in layers)]
    for name, array in zip(names, gradients_at(tensors, model, x, y), strict=True):
        if array is not None and not array.any():
            return name
    return None

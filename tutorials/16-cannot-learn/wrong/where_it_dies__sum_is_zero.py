"""A gradient whose sum is 0 is taken for a gradient of zeros.

en: expected where_it_dies of a model whose slopes sum to 0 to be None, yours is 'loss'
zh: where_it_dies（梯度之和为 0 的模型）应为 None，你的是 'loss'
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
        if array is None or array.sum() == 0:
            return name
    return None

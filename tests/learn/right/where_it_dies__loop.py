from keras import backend as K


def gradients_at(tensors, model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    feeds = model.inputs + model.targets + model.sample_weights
    slopes = K.gradients(model.total_loss, tensors)
    there = [slope for slope in slopes if slope is not None]
    arrays = iter(K.function(feeds, there)(x + y + sample_weights) if there else [])
    return [None if slope is None else next(arrays) for slope in slopes]


def where_it_dies(model, x, y):
    places = [("loss", model.output)]
    places += [(layer.name, layer.input) for layer in reversed(model.layers)]
    for name, tensor in places:
        (array,) = gradients_at([tensor], model, x, y)
        if array is None or (array == 0).all():
            return name
    return None

from keras import backend as K


def gradients_at(tensors, model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    feeds = model.inputs + model.targets + model.sample_weights
    slopes = K.gradients(model.total_loss, tensors)
    there = [slope for slope in slopes if slope is not None]
    arrays = iter(K.function(feeds, there)(x + y + sample_weights) if there else [])
    return [None if slope is None else next(arrays) for slope in slopes]


def where_it_dies(model, x, y):
    def lives(tensor):
        array = gradients_at([tensor], model, x, y)[0]
        return array is not None and array.any()

    def walk(layers):
        if not layers:
            return None
        *before, last = layers
        return walk(before) if lives(last.input) else last.name

    return walk(model.layers[1:]) if lives(model.output) else "loss"

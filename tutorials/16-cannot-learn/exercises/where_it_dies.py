"""Where does the gradient die?

`model` is a chain of layers and is compiled. On its way back, the gradient of the loss comes first
to the model's output, then to the input of the last layer, to the input of the layer before it, and
so on, down to the model's input. It is dead where it is 0 everywhere, or where there is no
gradient at all.

Write `where_it_dies(model, x, y)`, which returns

- "loss", if it is dead already at the model's output;
- otherwise the name of the first layer on the way back at whose input it is dead;
- None, if it is not dead at the model's input either.

`gradients_at` is given: an array for each tensor, or None if no path leads to it.
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
    return ...

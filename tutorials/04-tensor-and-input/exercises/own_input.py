"""Give a layer an Input of its own.

In Keras 1 a layer could make its own Input: layer.create_input_layer((None, 7)). Write it as a
function.

`create_input_layer(layer, batch_input_shape, name)`: make an Input of this shape and of this name,
call the layer on it, and store the shape as layer.batch_input_shape. Return nothing. The shape
already contains the batch axis. Do not call layer.create_input_layer.
"""

from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    return ...

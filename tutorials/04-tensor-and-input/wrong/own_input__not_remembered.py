"""The layer is connected, but does not store the shape.

en: expected layer.batch_input_shape to be (None, 7), yours is None
zh: layer.batch_input_shape 应为 (None, 7)，你的是 None
"""

from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    layer(Input(batch_shape=batch_input_shape, name=name))

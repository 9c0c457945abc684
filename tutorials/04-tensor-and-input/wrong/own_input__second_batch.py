"""The batch's shape is taken for a sample's, and so gets a second batch axis in front.

en: expected layer.input_shape to be (None, 7), yours is (None, None, 7)
zh: layer.input_shape 应为 (None, 7)，你的是 (None, None, 7)
"""

from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    layer(Input(shape=batch_input_shape, name=name))
    layer.batch_input_shape = batch_input_shape

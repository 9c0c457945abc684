"""The layer stores the shape without the size of the batch.

en: expected layer.batch_input_shape of batches of 8 to be (8, None, 5), yours is (None, None, 5)
zh: 每批 8 行时的 layer.batch_input_shape 应为 (8, None, 5)，你的是 (None, None, 5)
"""

from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    x = Input(batch_shape=batch_input_shape, name=name)
    layer(x)
    layer.batch_input_shape = (None, *batch_input_shape[1:])

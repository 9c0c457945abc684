"""Returns the Input, like Input(), instead of nothing.

en: expected create_input_layer(...) to be None, yours is the tensor 'door': nothing is returned
zh: create_input_layer(...) 应为 None，你的是张量 'door'：什么也不返回
"""

from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    x = Input(batch_shape=batch_input_shape, name=name)
    layer(x)
    layer.batch_input_shape = batch_input_shape
    return x

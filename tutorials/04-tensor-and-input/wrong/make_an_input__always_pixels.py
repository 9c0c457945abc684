"""Always uses the name of the example.

en: expected the name of the layer to be 'rows', yours is 'pixels'
zh: 层的名字应为 'rows'，你的是 'pixels'
"""

from keras.layers import InputLayer


def make_input(shape, name):
    layer = InputLayer(batch_input_shape=(None, *shape), name="pixels")
    return layer.inbound_nodes[0].output_tensors[0]

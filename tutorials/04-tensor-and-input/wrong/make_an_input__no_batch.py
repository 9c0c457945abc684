"""The sample's shape is taken for the batch's.

en: expected the tensor's shape to be (None, 784), yours is (784,)
zh: 张量的形状应为 (None, 784)，你的是 (784,)
"""

from keras.layers import InputLayer


def make_input(shape, name):
    layer = InputLayer(batch_input_shape=shape, name=name)
    return layer.inbound_nodes[0].output_tensors[0]

"""The layer is called on a placeholder that no layer has made.

en: expected len(layer.inbound_nodes) to be 1, yours is 0: a call leaves a Node only where the tensor has a history
zh: len(layer.inbound_nodes) 应为 1，你的是 0：只有张量带着来历，调用才会留下 Node
"""

from keras import backend as K


def create_input_layer(layer, batch_input_shape, name):
    layer(K.placeholder(shape=batch_input_shape, name=name))
    layer.batch_input_shape = batch_input_shape

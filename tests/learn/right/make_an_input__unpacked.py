from keras.layers import InputLayer


def make_input(shape, name):
    layer = InputLayer(batch_input_shape=(None,) + tuple(shape), name=name)
    (node,) = layer.inbound_nodes
    (tensor,) = node.output_tensors
    return tensor

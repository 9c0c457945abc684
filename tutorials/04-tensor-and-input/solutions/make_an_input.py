from keras.layers import InputLayer


def make_input(shape, name):
    layer = InputLayer(batch_input_shape=(None, *shape), name=name)
    return layer.inbound_nodes[0].output_tensors[0]

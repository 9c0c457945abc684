from keras.layers import Input


def create_input_layer(layer, batch_input_shape, name):
    layer.batch_input_shape = batch_input_shape
    layer(Input(batch_shape=batch_input_shape, name=name))

from keras.layers import InputLayer


def create_input_layer(layer, batch_input_shape, name):
    door = InputLayer(batch_input_shape=batch_input_shape, name=name)
    layer(door.output)
    setattr(layer, "batch_input_shape", tuple(batch_input_shape))

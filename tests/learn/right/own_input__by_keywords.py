from keras import layers


def create_input_layer(layer, batch_input_shape, name):
    settings = {"batch_shape": tuple(batch_input_shape), "name": name}
    made = layer(layers.Input(**settings))
    assert made is not None
    layer.batch_input_shape = settings["batch_shape"]

from keras.layers import InputLayer


def make_input(shape, name):
    door = InputLayer(name=name, batch_input_shape=[None] + list(shape))
    return door.output

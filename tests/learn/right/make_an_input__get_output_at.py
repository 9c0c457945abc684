from keras.layers import InputLayer


def make_input(shape, name):
    return InputLayer(input_shape=shape, name=name).get_output_at(0)

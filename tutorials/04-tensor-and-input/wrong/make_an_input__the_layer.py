"""Returns the layer instead of its tensor.

en: expected make_input((784,), "pixels") to be a symbolic tensor, yours is <InputLayer pixels>
zh: make_input((784,), "pixels") 应是一个符号张量，你的是 <InputLayer pixels>
"""

from keras.layers import InputLayer


def make_input(shape, name):
    return InputLayer(batch_input_shape=(None, *shape), name=name)

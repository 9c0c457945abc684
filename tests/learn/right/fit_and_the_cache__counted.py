import math

from keras.layers import Input

layer_calls = graph_runs = 0
function_calls = 3 * math.ceil(50 / 32)


def one_run(model):
    x = Input(batch_shape=model.input_shape)
    for _ in range(3):
        model(x)


def one_hit(model):
    x = Input(batch_shape=model.input_shape)
    return [model(x) for _ in range(2)]

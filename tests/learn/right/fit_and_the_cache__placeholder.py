from keras import backend as K
from keras.layers import Input

layer_calls = int(False)
graph_runs = int(False)
function_calls = len(range(0, 50, 32)) * 3


def one_run(model):
    model(Input(shape=K.int_shape(model.inputs[0])[1:]))


def one_hit(model):
    x = Input(shape=K.int_shape(model.inputs[0])[1:])
    outputs = []
    while len(outputs) < 2:
        outputs.append(model(x))
    return outputs

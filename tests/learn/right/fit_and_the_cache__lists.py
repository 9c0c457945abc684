from keras.layers import Input

layer_calls, graph_runs, function_calls = 0, 0, 2 * 3


def fresh(model):
    (shape,) = [tuple(tensor.shape[1:]) for tensor in model.inputs]
    return Input(shape)


def one_run(model):
    return model([fresh(model)])


def one_hit(model):
    x = fresh(model)
    first = model(x)
    again = model([x])
    return first, again

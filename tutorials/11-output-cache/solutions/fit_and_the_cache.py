from kerascope.layers import Input

layer_calls = 0
graph_runs = 0
function_calls = 6


def one_run(model):
    model(Input(shape=model.input_shape[1:]))


def one_hit(model):
    new = Input(shape=model.input_shape[1:])
    return model(new), model(new)

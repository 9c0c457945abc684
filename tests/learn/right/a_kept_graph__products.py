from keras import backend as K


def with_lambda(box):
    def square():
        return box[0] * box[0]

    return square


def with_graph(x):
    return K.square(x)


def ops_of(y):
    if y.owner is None:
        return []
    return [y.owner.op.name] + ops_of(y.owner.inputs[0])

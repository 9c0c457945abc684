from keras import backend as K


class Square:
    def __init__(self, box):
        self.box = box

    def __call__(self):
        (number,) = self.box
        return number**2


with_lambda = Square


def with_graph(x):
    return K.pow(x, 2)


def ops_of(y):
    names, apply = [], y.owner
    while apply is not None:
        names += [apply.op.name]
        apply = apply.inputs[0].owner
    return names

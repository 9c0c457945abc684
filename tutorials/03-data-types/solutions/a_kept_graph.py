def with_lambda(box):
    return lambda: box[0] ** 2


def with_graph(x):
    return x**2


def ops_of(y):
    names = []
    while y.owner is not None:
        names.append(y.owner.op.name)
        y = y.owner.inputs[0]
    return names

from functools import partial


def with_lambda(box):
    return partial(lambda kept: pow(kept[0], 2), box)


def with_graph(x):
    return x * x


def walk(y):
    while y.owner:
        yield y.owner.op.name
        y = y.owner.inputs[0]


def ops_of(y):
    return list(walk(y))

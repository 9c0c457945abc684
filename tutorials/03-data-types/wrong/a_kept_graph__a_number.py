"""`with_graph` computes a number instead of making a graph.

en: expected with_graph(x) to be a symbolic tensor, yours is 1
zh: with_graph(x) 应是一个符号张量，你的是 1
"""

from keras import backend as K


def with_lambda(box):
    return lambda: box[0] ** 2


def with_graph(x):
    return K.get_value(x) ** 2


def ops_of(y):
    return []

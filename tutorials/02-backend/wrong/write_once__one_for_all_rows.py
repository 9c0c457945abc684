"""The mean is taken over all rows at once.

en: expected the shape of mean_squared_error on kerascope's engine to be (2,), yours is ()
zh: 在 kerascope 的引擎上，mean_squared_error 的形状应为 (2,)，你的是 ()
"""


def dense_relu(K, x, W, b):
    return K.relu(K.dot(x, W) + b)


def mean_squared_error(K, target, output):
    return K.mean(K.square(output - target))

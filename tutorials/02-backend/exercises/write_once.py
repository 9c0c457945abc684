"""Write a layer once, for two engines.

A layer knows its engine only by the names in the backend. Here the backend comes as an argument K,
and the checker calls your functions with two: with kerascope's, whose tensors are symbols, and with
a small one of its own, whose tensors hold numbers that only it can read.

`dense_relu(K, x, W, b)`: relu(x · W + b), for rows x.
`mean_squared_error(K, target, output)`: for each row, the mean of the squared differences.

Both engines have K.dot, K.bias_add, K.relu, K.square and K.mean(x, axis=-1), and their tensors
understand + and -. You need no more; and no NumPy.
"""


def dense_relu(K, x, W, b):
    return ...


def mean_squared_error(K, target, output):
    return ...

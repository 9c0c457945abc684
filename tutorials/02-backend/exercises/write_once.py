"""Write a layer once, for two engines.

A layer knows its engine only by the names in the backend. Here the backend comes as an argument K,
and the checker calls your functions with two: kerascope's, whose tensors are symbols, and a small
backend of its own, whose tensors hold numbers that only this backend can read.

`dense_relu(K, x, W, b)`: relu(x · W + b), for rows x.
`mean_squared_error(K, target, output)`: for each row, the mean of the squared differences.

Both engines have K.dot, K.bias_add, K.relu, K.square and K.mean(x, axis=-1), and their tensors
support + and -. You need nothing else, and no NumPy.
"""


def dense_relu(K, x, W, b):
    return ...


def mean_squared_error(K, target, output):
    return ...

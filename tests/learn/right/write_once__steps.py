def dense_relu(K, x, W, b):
    products = K.dot(x, W)
    shifted = b + products
    return K.relu(shifted)


def mean_squared_error(K, target, output):
    difference = output - target
    squares = K.square(difference)
    return K.mean(squares, axis=-1)

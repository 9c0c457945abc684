def dense_relu(K, x, W, b):
    return K.relu(K.dot(x, W) + b)


def mean_squared_error(K, target, output):
    return K.mean(K.square(output - target), axis=-1)

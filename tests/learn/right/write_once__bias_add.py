def dense_relu(K, x, W, b):
    return K.relu(K.bias_add(K.dot(x, W), b))


def mean_squared_error(K, target, output):
    return K.mean(K.square(target - output), axis=-1)

dense_relu = lambda K, x, W, b: K.relu(K.dot(x, W) + b)
mean_squared_error = lambda K, target, output: K.mean(K.square(output - target), axis=1)

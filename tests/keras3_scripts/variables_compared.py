"""Python's operators on variables and numbers, outside of layers and models."""

import keras
import numpy as np
from keras import ops

v = keras.Variable(np.array([1.0, 2.0], "float32"))
for found in (
    *(v > 1, v == 1, v != 1, v == v, v != v, np.array([1.0, 3.0]) == v, 3 % v, v % 2, v // 2),
    *(7 // v, v * 2, ops.sum(v == 1), ~(v > 1), (v > 1) & (v < 3), (v > 1) | False, (v > 1) ^ True),
):
    print(np.asarray(found).tolist())

step = keras.Variable(3)
print(bool(step == 3), bool(step > 2), bool(step != 3), "three" if step == 3 else "another")

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0, batch_size=2)
print(int(model.optimizer.iterations), bool(model.optimizer.iterations == 2))
kernel = model.layers[0].kernel
print(np.asarray(kernel == kernel).tolist(), kernel in model.weights, model.weights.index(kernel))

numbers = ops.convert_to_tensor([1.0, 2.0])
print(np.asarray(numbers == 1).tolist(), np.asarray(numbers != numbers).tolist())

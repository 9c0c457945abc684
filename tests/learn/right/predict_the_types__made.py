import numpy as np
from keras import backend as K

x = K.variable([1.0, 2.0, 3.0], dtype="float32")
d = K.placeholder(shape=(3,), dtype="float64")
i = K.variable([1, 2, 3], dtype="int32")
a = np.ones(3)
words = ["x * 2.5", "x * a", "x + d", "x * i", "i * 2", "K.greater(x, d)", "K.cast(i, 'float64')"]
predictions = {word: K.dtype(eval(word)) for word in words}

"""Keras 2: a convolutional network reads handwritten digits.

kerascope run examples/keras2_cnn.py
"""

import keras
import numpy as np
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from keras.models import Sequential

from kerascope.datasets import digits

np.random.seed(0)

num_classes = 10
img_rows, img_cols = 8, 8

(x_train, y_train), (x_test, y_test) = digits.load_data()

if K.image_data_format() == "channels_first":
    x_train = x_train.reshape(x_train.shape[0], 1, img_rows, img_cols)
    x_test = x_test.reshape(x_test.shape[0], 1, img_rows, img_cols)
    input_shape = (1, img_rows, img_cols)
else:
    x_train = x_train.reshape(x_train.shape[0], img_rows, img_cols, 1)
    x_test = x_test.reshape(x_test.shape[0], img_rows, img_cols, 1)
    input_shape = (img_rows, img_cols, 1)

x_train = x_train.astype("float32") / 16
x_test = x_test.astype("float32") / 16
y_train = keras.utils.to_categorical(y_train, num_classes)
y_test = keras.utils.to_categorical(y_test, num_classes)

model = Sequential()
model.add(
    Conv2D(16, kernel_size=(3, 3), activation="relu", padding="same", input_shape=input_shape)
)
model.add(BatchNormalization())
model.add(Conv2D(32, (3, 3), activation="relu"))
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Dropout(0.25))
model.add(Flatten())
model.add(Dense(64, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(num_classes, activation="softmax"))

model.compile(
    loss=keras.losses.categorical_crossentropy,
    optimizer=keras.optimizers.Adam(lr=0.003),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=2, validation_data=(x_test, y_test))
score = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", score[0])
print(f"Test accuracy: {score[1]:.3f}")

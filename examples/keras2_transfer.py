"""Keras 2, transfer: features learned on the digits 0 to 4 are frozen, and used for 5 to 9.

kerascope run examples/keras2_transfer.py
"""

import keras
import numpy as np
from keras.layers import Activation, Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from keras.models import Sequential

from kerascope.datasets import digits

np.random.seed(8)

num_classes = 5
(x_train, y_train), (x_test, y_test) = digits.load_data()
x_train = x_train.reshape(-1, 8, 8, 1).astype("float32") / 16
x_test = x_test.reshape(-1, 8, 8, 1).astype("float32") / 16


def train_model(model, train, test, epochs):
    """Train a model, and return its accuracy on the test images."""
    x, y = train
    y = keras.utils.to_categorical(y, num_classes)
    test_x, test_y = test[0], keras.utils.to_categorical(test[1], num_classes)
    model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
    model.fit(x, y, batch_size=32, epochs=epochs, verbose=0)
    return model.evaluate(test_x, test_y, verbose=0)[1]


def part(x, y, low):
    """Return the images of five digits, and their labels, counted from 0."""
    chosen = (y >= low) & (y < low + 5)
    return x[chosen], y[chosen] - low


feature_layers = [
    Conv2D(16, 3, padding="same", input_shape=(8, 8, 1)),
    Activation("relu"),
    Conv2D(16, 3),
    Activation("relu"),
    MaxPooling2D(pool_size=2),
    Dropout(0.25),
    Flatten(),
]
classification_layers = [
    Dense(64),
    Activation("relu"),
    Dropout(0.5),
    Dense(num_classes),
    Activation("softmax"),
]
model = Sequential(feature_layers + classification_layers)

first = train_model(model, part(x_train, y_train, 0), part(x_test, y_test, 0), epochs=15)
print("Accuracy on 0 to 4: %.3f" % first)

before = [layer.get_weights() for layer in feature_layers]
for layer in feature_layers:
    layer.trainable = False
second = train_model(model, part(x_train, y_train, 5), part(x_test, y_test, 5), epochs=15)
kept = all(
    (old == new).all()
    for layer, weights in zip(feature_layers, before)
    for old, new in zip(weights, layer.get_weights())
)
print("The frozen weights stayed as they were:", kept)
print(f"Accuracy on 5 to 9: {second:.3f}")

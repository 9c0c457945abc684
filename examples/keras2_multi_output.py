"""Keras 2: a model with two inputs, an image and its ink, and two outputs, its digit and parity.

kerascope run examples/keras2_multi_output.py
"""

import keras
import numpy as np
from keras.layers import Dense, Input, concatenate
from keras.models import Model

from kerascope.datasets import digits

np.random.seed(5)

(x_train, y_train), (x_test, y_test) = digits.load_data()


def prepared(x, y):
    """Return the images, their amounts of ink, their digits, and the parities of the digits."""
    images = x.reshape(-1, 64).astype("float32") / 16
    return images, images.mean(axis=1, keepdims=True), y, y % 2


images, ink, number, parity = prepared(x_train, y_train)
test_images, test_ink, test_number, test_parity = prepared(x_test, y_test)

image_input = Input(shape=(64,), name="image")
ink_input = Input(shape=(1,), name="ink")
x = keras.layers.Dense(64, activation="relu")(image_input)
x = concatenate([x, ink_input])
x = Dense(64, activation="relu")(x)
digit_output = Dense(10, activation="softmax", name="digit")(x)
parity_output = Dense(1, activation="sigmoid", name="odd")(x)

model = Model(inputs=[image_input, ink_input], outputs=[digit_output, parity_output])
model.compile(
    optimizer="rmsprop",
    loss={"digit": "sparse_categorical_crossentropy", "odd": "binary_crossentropy"},
    loss_weights={"digit": 1.0, "odd": 0.5},
    metrics=["accuracy"],
)
history = model.fit(
    {"image": images, "ink": ink},
    {"digit": number, "odd": parity},
    epochs=25,
    batch_size=32,
    verbose=0,
    validation_data=([test_images, test_ink], [test_number, test_parity]),
)
print("logged:", ", ".join(sorted(history.history)))
scores = dict(
    zip(
        model.metrics_names,
        model.evaluate([test_images, test_ink], [test_number, test_parity], verbose=0),
    )
)
print(f"Test accuracy: digit {scores['digit_acc']:.3f}, odd {scores['odd_acc']:.3f}")

"""Keras 2: an autoencoder squeezes a digit of 64 pixels into 8 numbers, and draws it again.

Encoder, decoder and autoencoder share their layers.

    kerascope run examples/keras2_autoencoder.py
"""

import numpy as np
from keras.layers import Dense, Input
from keras.models import Model

from kerascope.datasets import digits

np.random.seed(3)

encoding_dim = 8
(x_train, _), (x_test, _) = digits.load_data()
x_train = x_train.reshape(-1, 64).astype("float32") / 16
x_test = x_test.reshape(-1, 64).astype("float32") / 16

input_img = Input(shape=(64,))
encoded = Dense(32, activation="relu")(input_img)
encoded = Dense(encoding_dim, activation="relu")(encoded)
decoded = Dense(32, activation="relu")(encoded)
decoded = Dense(64, activation="sigmoid")(decoded)
autoencoder = Model(input_img, decoded)
encoder = Model(input_img, encoded)

encoded_input = Input(shape=(encoding_dim,))
deco = autoencoder.layers[-1](autoencoder.layers[-2](encoded_input))
decoder = Model(encoded_input, deco)

autoencoder.compile(optimizer="adam", loss="binary_crossentropy")
autoencoder.fit(
    x_train, x_train, epochs=150, batch_size=32, verbose=0, validation_data=(x_test, x_test)
)

codes = encoder.predict(x_test)
drawn = decoder.predict(codes)
for row in range(8):
    print("".join(" .:*#"[int(4 * v)] for v in x_test[0].reshape(8, 8)[row]), end="   ")
    print("".join(" .:*#"[int(4 * v)] for v in drawn[0].reshape(8, 8)[row]))
error = ((drawn - x_test) ** 2).mean() / ((x_test - x_train.mean(axis=0)) ** 2).mean()
print("codes of shape", codes.shape)
print(f"Share of the variance that is lost: {error:.3f}")

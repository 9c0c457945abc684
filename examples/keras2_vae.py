"""Keras 2: a variational autoencoder, whose loss is added by `add_loss`, makes new digits.

kerascope run examples/keras2_vae.py
"""

import numpy as np
from keras import backend as K
from keras.layers import Dense, Input, Lambda
from keras.losses import binary_crossentropy
from keras.models import Model

from kerascope.datasets import digits

np.random.seed(2)

original_dim, intermediate_dim, latent_dim = 64, 48, 2


def sampling(args):
    """Return random numbers of a normal distribution with this mean and log variance."""
    z_mean, z_log_var = args
    epsilon = K.random_normal(shape=(K.shape(z_mean)[0], K.int_shape(z_mean)[1]))
    return z_mean + K.exp(0.5 * z_log_var) * epsilon


(x_train, _), (x_test, y_test) = digits.load_data()
x_train = x_train.reshape(-1, original_dim).astype("float32") / 16
x_test = x_test.reshape(-1, original_dim).astype("float32") / 16

inputs = Input(shape=(original_dim,), name="encoder_input")
x = Dense(intermediate_dim, activation="relu")(inputs)
z_mean = Dense(latent_dim, name="z_mean")(x)
z_log_var = Dense(latent_dim, name="z_log_var")(x)
z = Lambda(sampling, output_shape=(latent_dim,), name="z")([z_mean, z_log_var])
encoder = Model(inputs, [z_mean, z_log_var, z], name="encoder")

latent_inputs = Input(shape=(latent_dim,), name="z_sampling")
x = Dense(intermediate_dim, activation="relu")(latent_inputs)
outputs = Dense(original_dim, activation="sigmoid")(x)
decoder = Model(latent_inputs, outputs, name="decoder")

outputs = decoder(encoder(inputs)[2])
vae = Model(inputs, outputs, name="vae_mlp")

reconstruction_loss = binary_crossentropy(inputs, outputs) * original_dim
kl_loss = -0.5 * K.sum(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1)
vae_loss = K.mean(reconstruction_loss + kl_loss)
vae.add_loss(vae_loss)
vae.compile(optimizer="adam")
history = vae.fit(x_train, epochs=60, batch_size=64, verbose=0, validation_data=(x_test, None))

for row in decoder.predict(np.array([[-1.0, 0.0], [1.0, 0.0]])).reshape(2, 8, 8).transpose(1, 0, 2):
    print("   ".join("".join(" .:*#"[int(4 * v)] for v in digit) for digit in row))
first, last = history.history["loss"][0], history.history["loss"][-1]
print(f"Loss: {first:.1f} at first, {last:.1f} at last")

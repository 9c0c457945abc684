"""Keras 2: one network forges points of a ring, another tells forged points from real ones.

The discriminator is compiled first and then frozen inside the combined model: each `compile` keeps
the weights that were trainable at the time.

    kerascope run examples/keras2_gan.py
"""

import numpy as np
from keras.layers import Dense, Input, LeakyReLU
from keras.models import Model, Sequential
from keras.optimizers import Adam

np.random.seed(9)
rng = np.random.default_rng(0)
latent_dim = 4


def real_points(n):
    """Return points near the circle of radius 2."""
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = rng.normal(2, 0.1, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def build_generator():
    """Return the network that makes a point of four random numbers."""
    model = Sequential()
    model.add(Dense(32, input_dim=latent_dim))
    model.add(LeakyReLU(alpha=0.2))
    model.add(Dense(32))
    model.add(LeakyReLU(alpha=0.2))
    model.add(Dense(2))
    return model


def build_discriminator():
    """Return the network that decides whether a point is real."""
    model = Sequential()
    model.add(Dense(32, input_dim=2))
    model.add(LeakyReLU(alpha=0.2))
    model.add(Dense(32))
    model.add(LeakyReLU(alpha=0.2))
    model.add(Dense(1, activation="sigmoid"))
    return model


optimizer = Adam(0.002, 0.5)
discriminator = build_discriminator()
discriminator.compile(loss="binary_crossentropy", optimizer=optimizer, metrics=["accuracy"])
generator = build_generator()
z = Input(shape=(latent_dim,))
discriminator.trainable = False
combined = Model(z, discriminator(generator(z)))
combined.compile(loss="binary_crossentropy", optimizer=Adam(0.002, 0.5))

batch_size = 64
valid, fake = np.ones((batch_size, 1)), np.zeros((batch_size, 1))
for step in range(2001):
    noise = rng.normal(size=(batch_size, latent_dim))
    d_loss_real = discriminator.train_on_batch(real_points(batch_size), valid)
    d_loss_fake = discriminator.train_on_batch(generator.predict(noise), fake)
    g_loss = combined.train_on_batch(rng.normal(size=(batch_size, latent_dim)), valid)
    if step % 500 == 0:
        d_loss = 0.5 * np.add(d_loss_real, d_loss_fake)
        print(
            "%d [D loss: %.3f, acc.: %.0f%%] [G loss: %.3f]"
            % (step, d_loss[0], 100 * d_loss[1], g_loss)
        )

forged = generator.predict(rng.normal(size=(1000, latent_dim)))
radius = np.sqrt((forged**2).sum(axis=1))
quarters = np.histogram(np.arctan2(forged[:, 1], forged[:, 0]), 4, (-np.pi, np.pi))[0] / 1000
near = np.mean(np.abs(radius - 2) < 0.5)
print("share in each quarter:", " ".join("%.2f" % share for share in quarters))
print(f"Forged points near the ring: {near:.3f}")

"""A small GPT is inspected, stepped with NumPy, and then trained with JAX on four devices.

The second half of each word repeats the first half, so the model must look back with attention.

python examples/gpt_many_devices.py gpt.svg     draws the model, too

It needs JAX: pip install 'kerascope[jax]'.
"""

import sys

import jax
import numpy as np

import kerascope as ks
from kerascope import Input, Model, layers

jax.config.update("jax_num_cpu_devices", 4)  # simulated ones; with four GPUs, leave it out
ks.config.dialect = "3"
np.random.seed(0)
letters, times, width, heads = 10, 12, 32, 4


def make_words(n, rng):
    """Return words whose second half repeats the first, and for each letter the next one."""
    halves = rng.integers(0, letters, (n, times // 2))
    words = np.concatenate([halves, halves, halves[:, :1]], axis=1)
    return words[:, :-1], words[:, 1:, None]


class Positions(layers.Layer):
    """A layer that adds a learned vector for the position of each letter."""

    def build(self, input_shape):
        self.table = self.add_weight(shape=input_shape[1:], initializer="uniform", name="table")

    def call(self, x):
        return x + self.table


def block(x):
    """Return x after attention and a small network, each added to its own input."""
    y = layers.LayerNormalization()(x)
    attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)
    x = x + attention(y, y, use_causal_mask=True)
    y = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(x))
    return x + layers.Dense(width)(y)


rng = np.random.default_rng(0)
x_train, y_train = make_words(4096, rng)
x_val, y_val = make_words(256, rng)

inputs = Input(shape=(times,), dtype="int32")
x = Positions()(layers.Embedding(letters, width)(inputs))
x = block(block(x))
outputs = layers.Dense(letters, activation="softmax")(layers.LayerNormalization()(x))
model = Model(inputs, outputs, name="gpt")

# Inspect it: NumPy computes whatever is drawn or stepped.
print(f"{model.count_params():,} parameters")
for path in sys.argv[1:]:
    ks.draw(model, path)
for step in ks.walk(model, x_val[:1]):
    print(step)

# Train it: each of the four devices computes a quarter of each batch.
model.compile("adam", "sparse_categorical_crossentropy", engine="jax", devices=4)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2, validation_data=(x_val, y_val))
print(model.train_function.explain())

# What is predicted in the second half is known: it repeats the first.
found, known = model.predict(x_val).argmax(-1), y_val[..., 0]
are_right = (found == known)[:, times // 2 - 1 :]
print(f"{100 * are_right.mean():.0f}% of the repeated letters are right")

"""Keras 3: a transformer block, in which every letter sees all others, finds a repeated letter.

kerascope run --dialect 3 examples/keras3_transformer.py
"""

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(10)

vocab_size, maxlen, embed_dim, num_heads = 12, 8, 32, 4


class TokenAndPositionEmbedding(layers.Layer):
    """A layer that adds the embedding of each letter and the embedding of its position."""

    def __init__(self, maxlen, vocab_size, embed_dim, **kwargs):
        super().__init__(**kwargs)
        self.maxlen, self.vocab_size, self.embed_dim = maxlen, vocab_size, embed_dim
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        """Return the sum of the embeddings of the letters and of their positions."""
        positions = ops.arange(0, self.maxlen, 1)
        return self.token_emb(x) + self.pos_emb(positions)


def transformer_block(x):
    """Return x after attention and a small network, each added to its own input."""
    attention = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim // num_heads)
    x = layers.LayerNormalization(epsilon=1e-6)(x + attention(x, x))
    y = layers.Dense(embed_dim, activation="gelu")(x)
    y = layers.Dropout(0.1)(layers.Dense(embed_dim)(y))
    return layers.LayerNormalization(epsilon=1e-6)(x + y)


def make_words(n, rng):
    """Return words in which one letter occurs twice, and this letter for each word."""
    words = np.argsort(rng.random((n, vocab_size)), axis=1)[:, :maxlen]
    first, second = np.argsort(rng.random((n, maxlen)), axis=1)[:, :2].T
    rows = np.arange(n)
    words[rows, second] = words[rows, first]
    return words, words[rows, first]


rng = np.random.default_rng(0)
x_train, y_train = make_words(4000, rng)
x_val, y_val = make_words(500, rng)

inputs = layers.Input(shape=(maxlen,), dtype="int32")
x = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)(inputs)
x = transformer_block(x)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dense(64, activation="relu")(x)
outputs = layers.Dense(vocab_size, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(
    optimizer=keras.optimizers.AdamW(learning_rate=0.003),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    x_train, y_train, batch_size=64, epochs=15, validation_data=(x_val, y_val), verbose=2
)
print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")

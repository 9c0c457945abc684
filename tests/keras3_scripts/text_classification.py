"""Text classification with a transformer block, as keras.io teaches it."""

import keras
import numpy as np
from keras import layers, ops


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential(
            [layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs):
        attn_output = self.att(inputs, inputs)
        attn_output = self.dropout1(attn_output)
        out1 = self.layernorm1(inputs + attn_output)
        ffn_output = self.ffn(out1)
        ffn_output = self.dropout2(ffn_output)
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        maxlen = ops.shape(x)[-1]
        positions = ops.arange(start=0, stop=maxlen, step=1)
        positions = self.pos_emb(positions)
        x = self.token_emb(x)
        return x + positions


def fixed_weights(model, seed):
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") for w in model.get_weights()])


vocab_size, maxlen = 50, 12
rng = np.random.default_rng(0)
sequences = [list(rng.integers(1, vocab_size, size=rng.integers(4, 18))) for _ in range(32)]
x_train = keras.utils.pad_sequences(sequences, maxlen=maxlen)
y_train = np.array([sum(s) % 2 for s in sequences])

embed_dim, num_heads, ff_dim = 8, 2, 16
inputs = layers.Input(shape=(maxlen,))
x = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)(inputs)
x = TransformerBlock(embed_dim, num_heads, ff_dim, rate=0.0)(x)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.0)(x)
x = layers.Dense(20, activation="relu")(x)
x = layers.Dropout(0.0)(x)
outputs = layers.Dense(2, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs)
fixed_weights(model, 1)

model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x_train, y_train, batch_size=8, epochs=2, shuffle=False, verbose=0)
print("loss", *(f"{v:.5g}" for v in history.history["loss"]))
print("accuracy", *(f"{v:.5g}" for v in history.history["accuracy"]))
print("parameters", model.count_params())
print("predictions", np.round(model.predict(x_train[:3], verbose=0)[:, 0], 5).tolist())

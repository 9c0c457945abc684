"""A miniature GPT whose causal mask is computed from ops.shape, after keras.io."""

import keras
import numpy as np
from keras import layers, ops


def causal_attention_mask(n_dest, n_src, dtype):
    i = ops.arange(n_dest)[:, None]
    j = ops.arange(n_src)
    m = i >= j - n_src + n_dest
    mask = ops.cast(m, dtype)
    return ops.reshape(mask, [1, n_dest, n_src])


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads, embed_dim)
        self.ffn = keras.Sequential(
            [layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)

    def call(self, inputs):
        seq_len = ops.shape(inputs)[1]
        causal_mask = causal_attention_mask(seq_len, seq_len, "bool")
        attention_output = self.att(inputs, inputs, attention_mask=causal_mask)
        out1 = self.layernorm1(inputs + attention_output)
        return self.layernorm2(out1 + self.ffn(out1))


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        positions = self.pos_emb(ops.arange(0, ops.shape(x)[-1], 1))
        return self.token_emb(x) + positions


vocab_size, maxlen, embed_dim = 30, 10, 8


def create_model():
    inputs = layers.Input(shape=(maxlen,), dtype="int32")
    x = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)(inputs)
    x = TransformerBlock(embed_dim, 2, 16)(x)
    outputs = layers.Dense(vocab_size)(x)
    model = keras.Model(inputs=inputs, outputs=[outputs, x])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss=[loss_fn, None])
    return model


class TextGenerator(keras.callbacks.Callback):
    def __init__(self, start, number):
        super().__init__()
        self.start, self.number = start, number

    def on_epoch_end(self, epoch, logs=None):
        tokens = list(self.start)
        while len(tokens) < self.number:
            x = np.array([tokens + [0] * (maxlen - len(tokens))], "int32")
            y, _ = self.model.predict(x, verbose=0)
            tokens.append(int(np.argmax(y[0][len(tokens) - 1])))
        print("generated", epoch, tokens)


model = create_model()
rng = np.random.default_rng(2)
model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") for w in model.get_weights()])
text = np.arange(400) * 7 % vocab_size
x = np.stack([text[i : i + maxlen] for i in range(0, 320, 5)]).astype("int32")
y = np.stack([text[i + 1 : i + maxlen + 1] for i in range(0, 320, 5)]).astype("int32")
history = model.fit(
    x, y, batch_size=16, epochs=3, shuffle=False, verbose=0, callbacks=[TextGenerator([0, 7], 8)]
)
print("loss", *(f"{v:.5g}" for v in history.history["loss"]))
print("logits", np.round(model.predict(x[:1], verbose=0)[0][0, -1, :4], 5).tolist())

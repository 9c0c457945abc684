"""Ten models, made with the layers of real Keras 3, and the arrays that they are run on."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(0)
VECTORS = rng.normal(size=(8, 6)).astype("float32")
IMAGES = rng.normal(size=(4, 8, 8, 3)).astype("float32")
WORDS = rng.integers(0, 10, (8, 5)).astype("int32")


def mlp(keras):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(5, activation="relu", kernel_regularizer="l2"),
            layers.Dropout(0.3),
            layers.Dense(2, activation="hard_sigmoid"),
        ]
    ), [VECTORS]


def cnn(keras):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.SeparableConv2D(5, 3),
            layers.LeakyReLU(negative_slope=0.2),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3, activation="softmax"),
        ]
    ), [IMAGES]


def text(keras):
    layers = keras.layers
    words = keras.Input((5,), dtype="int32")
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.GRU(4)(x)
    return keras.Model(words, layers.Dense(1, activation="sigmoid")(x)), [WORDS]


def siamese(keras):
    layers = keras.layers
    inner = keras.Sequential([keras.Input((6,)), layers.Dense(4), layers.Dense(4)])
    x = keras.Input((6,))
    twin = keras.Model(x, layers.Dense(3)(inner(x)), name="twin")
    a, b = keras.Input((6,)), keras.Input((6,))
    outputs = layers.Dense(1)(layers.Subtract()([twin(a), twin(b)]))
    return keras.Model([a, b], outputs), [VECTORS, VECTORS[::-1]]


def several(keras):
    layers = keras.layers
    a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
    x = layers.Concatenate()([layers.Dense(4)(a), layers.Dense(4)(b)])
    outputs = [layers.Dense(1, name="y")(x), layers.Dense(2, name="w")(x)]
    return keras.Model([a, b], outputs), [VECTORS, VECTORS[::-1]]


def transformer(keras):
    layers = keras.layers
    words = keras.Input((5,), dtype="int32")
    x = layers.Embedding(10, 8)(words)
    x = layers.LayerNormalization(epsilon=1e-6)(x + layers.MultiHeadAttention(2, 4)(x, x))
    forward = layers.Dense(8)(layers.Dense(16, activation="gelu")(x))
    x = layers.LayerNormalization()(layers.Add()([x, forward]))
    return keras.Model(words, layers.Dense(2)(layers.GlobalAveragePooling1D()(x))), [WORDS]


def autoencoder(keras):
    layers = keras.layers
    encoder = keras.Sequential([keras.Input((6,)), layers.Dense(3, activation="tanh")], name="enc")
    decoder = keras.Sequential([keras.Input((3,)), layers.Dense(6)], name="dec")
    x = keras.Input((6,))
    return keras.Model(x, decoder(encoder(x))), [VECTORS]


def residual(keras):
    layers = keras.layers
    images = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same")(images)
    for _ in range(2):
        y = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(x))
        x = layers.ReLU(max_value=6.0)(x + y * 0.5)
    x = keras.ops.mean(x, axis=[1, 2])
    return keras.Model(images, layers.Dense(2)(x)), [IMAGES]


def seq2seq(keras):
    layers = keras.layers
    source, target = keras.Input((5,), dtype="int32"), keras.Input((5,), dtype="int32")
    embedding = layers.Embedding(10, 4)
    _, h, c = layers.LSTM(3, return_state=True)(embedding(source))
    decoded = layers.LSTM(3, return_sequences=True)(embedding(target), initial_state=[h, c])
    outputs = layers.TimeDistributed(layers.Dense(4, activation="softmax"))(decoded)
    return keras.Model([source, target], outputs), [WORDS, WORDS[::-1]]


def shared(keras):
    layers = keras.layers
    x = keras.Input((6,))
    dense = layers.Dense(6, activation="tanh")
    other = layers.Dense(6)
    outputs = layers.Average()([dense(x), other(dense(dense(x))), layers.Dense(6)(x)])
    return keras.Model(x, outputs), [VECTORS]


MODELS = [
    mlp,
    cnn,
    text,
    siamese,
    several,
    transformer,
    autoencoder,
    residual,
    seq2seq,
    shared,
]

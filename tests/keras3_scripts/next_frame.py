"""Next-frame prediction with ConvLSTM layers; a series of vectors with ConvLSTM1D."""

import keras
import numpy as np
from keras import layers


def fixed_weights(model, seed):
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 0.2, w.shape).astype("float32") for w in model.get_weights()])


films = np.zeros((8, 6, 8, 8, 1), "float32")
for film in range(8):
    for t in range(6):
        films[film, t, (film + t) % 8, (2 * t) % 8] = 1.0
x_train, y_train = films[:, :-1], films[:, 1:]

inp = layers.Input(shape=(None, *x_train.shape[2:]))
x = layers.ConvLSTM2D(4, (3, 3), padding="same", return_sequences=True, activation="relu")(inp)
x = layers.BatchNormalization()(x)
x = layers.ConvLSTM2D(4, (1, 1), padding="same", return_sequences=True, activation="relu")(x)
x = layers.Conv3D(1, (3, 3, 3), activation="sigmoid", padding="same")(x)
model = keras.models.Model(inp, x)
fixed_weights(model, 5)
for layer in model.layers:
    if isinstance(layer, layers.BatchNormalization):
        layer.set_weights([np.ones(4), np.zeros(4), np.zeros(4), np.ones(4)])
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(learning_rate=0.01))
history = model.fit(x_train, y_train, batch_size=4, epochs=2, shuffle=False, verbose=0)
print("loss", *(f"{v:.4g}" for v in history.history["loss"]))
frames = x_train[0]
for _ in range(2):
    frames = np.concatenate([frames, model.predict(frames[None], verbose=0)[0, -1:]])
print("frames", frames.shape, f"{frames[-1].mean():.4g}")

series = np.sin(np.arange(480)).reshape(10, 6, 8, 1).astype("float32")
model = keras.Sequential(
    [
        keras.Input((6, 8, 1)),
        layers.ConvLSTM1D(3, 3, padding="same", return_sequences=True),
        layers.TimeDistributed(layers.GlobalAveragePooling1D()),
        layers.Bidirectional(layers.GRU(4)),
        layers.Dense(1),
    ]
)
fixed_weights(model, 6)
model.compile("rmsprop", "mse", metrics=["mae"])
history = model.fit(series, series[:, -1, -1], batch_size=5, epochs=2, shuffle=False, verbose=0)
print("mse", *(f"{v:.5g}" for v in history.history["loss"]))
print("mae", *(f"{v:.5g}" for v in history.history["mae"]))

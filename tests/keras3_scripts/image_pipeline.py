"""Images: rescaling and augmentation inside a small convolutional network."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(3)
images = rng.integers(0, 256, (24, 18, 20, 3)).astype("uint8")
labels = (images.mean((1, 2, 3)) > 127.5).astype("int32")

resized = keras.ops.convert_to_numpy(layers.Resizing(16, 16)(images))
print("resized", resized.dtype, resized.shape, int(resized.astype("int64").sum()))

data_augmentation = keras.Sequential(
    [layers.RandomFlip("horizontal"), layers.RandomRotation(0.1), layers.RandomZoom(0.2)]
)
augmented = keras.ops.convert_to_numpy(data_augmentation(resized[:4]))
print("augmented", augmented.shape, bool(np.abs(augmented - resized[:4]).max() > 1))
fixed = keras.Sequential(
    [
        layers.RandomRotation((0.1, 0.1), fill_mode="nearest"),
        layers.RandomZoom((-0.2, -0.2), fill_mode="constant"),
        layers.RandomTranslation((0.1, 0.1), (-0.1, -0.1)),
        layers.RandomBrightness((0.1, 0.1)),
    ]
)
print("turned", f"{float(keras.ops.mean(fixed(resized[:4], training=True))):.5g}")


def block(x, filters):
    shortcut = layers.Conv2D(filters, 1, strides=2, padding="same")(x)
    x = layers.SeparableConv2D(filters, 3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    return layers.add([x, shortcut])


inputs = keras.Input(shape=(16, 16, 3))
x = data_augmentation(inputs)
x = layers.Rescaling(1.0 / 255)(x)
x = layers.CenterCrop(14, 14)(x)
x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
x = block(x, 12)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(0.25)(x)
outputs = layers.Dense(1, activation=None)(x)
model = keras.Model(inputs, outputs)
weights = [np.abs(rng.normal(0, 0.4, w.shape)).astype("float32") for w in model.get_weights()]
model.set_weights(weights)
model.compile(
    optimizer=keras.optimizers.Adam(3e-4),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(name="acc")],
)
results = model.evaluate(resized, labels, batch_size=8, verbose=0, return_dict=True)
print("evaluated", {name: float(f"{value:.5g}") for name, value in results.items()})
scores = model.predict(resized, batch_size=8, verbose=0)
print("scores", np.round(scores[:4, 0], 4).tolist())
history = model.fit(resized, labels, batch_size=8, epochs=1, verbose=0)
print("trained", bool(np.isfinite(history.history["loss"][0])))

"""A toy ResNet with branches, Batch Normalization and a part that is frozen."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(6)
inputs = keras.Input(shape=(12, 12, 3), name="img")
x = layers.Conv2D(4, 3, activation="relu")(inputs)
x = layers.Conv2D(6, 3, activation="relu")(x)
block_1_output = layers.MaxPooling2D(2)(x)
x = layers.Conv2D(6, 3, padding="same")(block_1_output)
x = layers.BatchNormalization()(x)
x = layers.Activation("relu")(x)
x = layers.SeparableConv2D(6, 3, activation="relu", padding="same")(x)
block_2_output = layers.add([x, block_1_output])
x = layers.Conv2D(5, 3, activation="relu")(block_2_output)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dense(8, activation="relu")(x)
outputs = layers.Dense(3)(x)
model = keras.Model(inputs, outputs, name="toy_resnet")
for layer in model.layers:
    layer.set_weights([rng.uniform(0, 0.5, size=w.shape) - 0.1 for w in layer.get_weights()])
model.get_layer("batch_normalization").set_weights([np.ones(6), np.zeros(6)] * 2)
print(model.count_params(), [layer.name for layer in model.layers])
x_train, y_train = rng.normal(size=(16, 12, 12, 3)), np.eye(3)[rng.integers(0, 3, 16)]
model.compile(
    optimizer=keras.optimizers.SGD(1e-3),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True),
    metrics=["acc"],
)
history = model.fit(
    x_train, y_train, batch_size=8, epochs=2, validation_split=0.25, shuffle=False, verbose=0
)
print(history.history)
print(model.predict(x_train[:2], verbose=0))
base = keras.Model(model.input, model.get_layer("global_average_pooling2d").output)
base.trainable = False
inputs = keras.Input(shape=(12, 12, 3))
x = base(layers.Rescaling(scale=0.5)(inputs), training=False)
outputs = layers.Dense(1)(layers.Dropout(0.0)(x))
top = keras.Model(inputs, outputs)
top.layers[-1].set_weights([np.linspace(-1, 1, 5)[:, None], np.zeros(1)])
print(len(top.weights), len(top.trainable_weights), len(top.non_trainable_weights))
top.compile(
    optimizer=keras.optimizers.Adam(),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy()],
)
print(top.fit(x_train, y_train[:, :1], epochs=2, shuffle=False, verbose=0).history)
features = keras.Model(inputs=model.inputs, outputs=[layer.output for layer in model.layers[1:4]])
print([float(one.sum()) for one in features.predict(x_train[:2], verbose=0)])

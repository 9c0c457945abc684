"""Functional API: a classifier, its file, an autoencoder, an ensemble, a shared layer."""

import os
import tempfile

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(1)


def set_weights(model):
    for layer in model.layers:
        layer.set_weights([rng.normal(scale=0.3, size=w.shape) for w in layer.get_weights()])


inputs = keras.Input(shape=(12,))
x = layers.Dense(8, activation="relu")(inputs)
x = layers.Dense(8, activation="relu")(x)
outputs = layers.Dense(4)(x)
model = keras.Model(inputs=inputs, outputs=outputs, name="mnist_model")
set_weights(model)
model.compile(
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    optimizer=keras.optimizers.RMSprop(),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
)
x_train, y_train = rng.normal(size=(40, 12)), rng.integers(0, 4, 40)
history = model.fit(
    x_train, y_train, batch_size=16, epochs=2, validation_split=0.2, shuffle=False, verbose=0
)
print(history.history)
scores = model.evaluate(x_train, y_train, verbose=0)
print("Test loss:", scores[0])
print("Test accuracy:", scores[1])

path = os.path.join(tempfile.mkdtemp(), "my_model.keras")
model.save(path)
again = keras.models.load_model(path)
print(np.allclose(again.predict(x_train, verbose=0), model.predict(x_train, verbose=0)))

encoder_input = keras.Input(shape=(6, 6, 1), name="img")
x = layers.Conv2D(4, 3, activation="relu")(encoder_input)
x = layers.MaxPooling2D(2)(x)
encoder_output = layers.GlobalMaxPooling2D()(x)
encoder = keras.Model(encoder_input, encoder_output, name="encoder")
decoder_input = keras.Input(shape=(4,), name="encoded_img")
x = layers.Reshape((2, 2, 1))(decoder_input)
x = layers.Conv2DTranspose(2, 3, activation="relu")(x)
x = layers.UpSampling2D(2)(x)
decoder_output = layers.Conv2DTranspose(1, 3, strides=1, padding="valid")(x)
decoder = keras.Model(decoder_input, decoder_output, name="decoder")
set_weights(encoder)
set_weights(decoder)
autoencoder = keras.Model(encoder_input, decoder(encoder(encoder_input)), name="autoencoder")
print(autoencoder.output_shape, autoencoder.count_params(), [x.name for x in autoencoder.layers])
print(autoencoder.predict(rng.normal(size=(2, 6, 6, 1)), verbose=0).sum(axis=(1, 2, 3)))


def get_model():
    inputs = keras.Input(shape=(12,))
    return keras.Model(inputs, layers.Dense(1)(inputs))


models = [get_model() for _ in range(3)]
for one in models:
    set_weights(one)
inputs = keras.Input(shape=(12,))
ensemble = keras.Model(inputs=inputs, outputs=layers.average([one(inputs) for one in models]))
print(ensemble.predict(x_train[:3], verbose=0).ravel())

shared = layers.Embedding(10, 4)
a, b = keras.Input((5,), dtype="int32"), keras.Input((5,), dtype="int32")
both = keras.Model([a, b], layers.dot([shared(a), shared(b)], axes=(2, 2)))
set_weights(both)
print(both.predict([np.arange(10).reshape(2, 5), np.ones((2, 5))], verbose=0).sum(axis=2))

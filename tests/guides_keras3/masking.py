"""Masking and padding, recurrent layers, and a weight for each step of a sequence."""

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(7)


def set_weights(model):
    for layer in model.layers:
        layer.set_weights([rng.normal(scale=0.3, size=w.shape) for w in layer.get_weights()])


raw_inputs = [[7, 9, 6], [7, 3, 2, 5, 1], [8, 3, 6, 1, 2, 4]]
padded_inputs = keras.utils.pad_sequences(raw_inputs, padding="post")
print(padded_inputs)
embedding = layers.Embedding(input_dim=10, output_dim=4, mask_zero=True)
print(ops.convert_to_numpy(embedding.compute_mask(padded_inputs)).astype(int))

inputs = keras.Input(shape=(None,), dtype="int32")
x = layers.Embedding(input_dim=10, output_dim=4, mask_zero=True)(inputs)
x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
outputs = layers.GRU(2)(x)
model = keras.Model(inputs, outputs)
set_weights(model)
print(model.predict(padded_inputs, verbose=0))


class TemporalSoftmax(keras.layers.Layer):
    def call(self, inputs, mask=None):
        broadcast_float_mask = ops.expand_dims(ops.cast(mask, "float32"), -1)
        inputs_exp = ops.exp(inputs) * broadcast_float_mask
        inputs_sum = ops.sum(inputs_exp * broadcast_float_mask, axis=1, keepdims=True)
        return inputs_exp / inputs_sum


inputs = keras.Input(shape=(None,), dtype="int32")
x = layers.Embedding(input_dim=10, output_dim=4, mask_zero=True)(inputs)
outputs = TemporalSoftmax()(layers.Dense(1)(x))
model = keras.Model(inputs, outputs)
set_weights(model)
print(model.predict(padded_inputs, verbose=0)[..., 0])

inputs = keras.Input(shape=(6, 5))
x = layers.SimpleRNN(4, return_sequences=True)(inputs)
outputs = layers.TimeDistributed(layers.Dense(3, activation="softmax"))(x)
model = keras.Model(inputs, outputs)
set_weights(model)
x_train, y_train = rng.normal(size=(12, 6, 5)), rng.integers(0, 3, (12, 6))
sample_weight = rng.random((12, 6))
model.compile("adam", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
print(
    model.fit(
        x_train, y_train, sample_weight=sample_weight, batch_size=4, epochs=2, shuffle=False,
        verbose=0, validation_data=(x_train, y_train, sample_weight),
    ).history
)  # fmt: skip
print(model.evaluate(x_train, y_train, sample_weight=sample_weight, verbose=0, return_dict=True))
print(model.evaluate(x_train, y_train, verbose=0))
print(model.train_on_batch(x_train, y_train, sample_weight=sample_weight))

encoder_input = layers.Input(shape=(None,))
encoder_embedded = layers.Embedding(input_dim=20, output_dim=4)(encoder_input)
output, state_h, state_c = layers.LSTM(4, return_state=True, name="encoder")(encoder_embedded)
decoder_input = layers.Input(shape=(None,))
decoder_embedded = layers.Embedding(input_dim=20, output_dim=4)(decoder_input)
decoder_output = layers.LSTM(4, name="decoder")(decoder_embedded, initial_state=[state_h, state_c])
output = layers.Dense(3)(decoder_output)
model = keras.Model([encoder_input, decoder_input], output)
for layer in sorted(model.layers, key=lambda layer: layer.name):
    layer.set_weights([rng.normal(scale=0.3, size=w.shape) for w in layer.get_weights()])
print(model.predict([rng.integers(20, size=(2, 4)), rng.integers(20, size=(2, 3))], verbose=0))

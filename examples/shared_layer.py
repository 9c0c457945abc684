"""One layer that is called twice has two nodes, and one set of weights.

Two rows of numbers go through the same encoder; the model says whether their first numbers have the
same sign. `encoder.output` has no meaning, because the encoder has two outputs.
"""

import numpy as np

from kerascope.layers import Dense, Input, concatenate
from kerascope.models import Model

np.random.seed(0)
random = np.random.default_rng(0)
rows_a, rows_b = random.normal(size=(2, 1000, 4))
labels = rows_a[:, 0] * rows_b[:, 0] > 0

a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
encoder = Dense(8, activation="tanh", name="encoder")
encoded_a = encoder(a)
encoded_b = encoder(b)
both = concatenate([encoded_a, encoded_b], name="both")
hidden = Dense(16, activation="tanh", name="hidden")(both)
same = Dense(1, activation="sigmoid", name="same")(hidden)

model = Model(inputs=[a, b], outputs=same)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit([rows_a, rows_b], labels, epochs=100, verbose=0)

for encoded in (encoded_a, encoded_b):
    layer, node_index, tensor_index = encoded._keras_history
    print(f"{encoded}: layer {layer.name}, node {node_index}, tensor {tensor_index}")
try:
    print(encoder.output)
except AttributeError as error:
    print(f"encoder.output: {error}")
print(f"encoder.count_params(): {encoder.count_params()}, for both calls together")
print(f"accuracy after 100 epochs: {history.history['acc'][-1]:.2f}")

"""One layer called twice: two nodes, one set of weights.

Two sentences (here: rows of numbers) go through the same encoder; the model says whether they have
the same sign in the mean. `encoder.output` has no meaning, since there are two of them.
"""

import numpy as np

from kerascope.layers import Dense, Input, concatenate
from kerascope.models import Model

np.random.seed(0)  # noqa: NPY002
random = np.random.default_rng(0)
rows_a, rows_b = random.normal(size=(2, 400, 12))
labels = (rows_a.mean(axis=1) * rows_b.mean(axis=1) > 0).astype("float32")

a, b = Input(shape=(12,), name="a"), Input(shape=(12,), name="b")
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
print(f"encoder.get_output_at(1): {encoder.get_output_at(1)}")
print(f"accuracy after 100 epochs: {history.history['acc'][-1]:.2f}")

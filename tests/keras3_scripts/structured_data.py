"""Structured data: buckets, categories and normalised numbers, each its own input."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(4)
n = 64
table = {
    "age": rng.uniform(20, 80, n).astype("float32"),
    "pressure": rng.normal(130, 15, n).astype("float32"),
    "sex": rng.integers(0, 2, n).astype("int32"),
    "thal": rng.integers(0, 4, n).astype("int32"),
}
target = ((table["age"] > 50) & (table["thal"] > 1)).astype("float32")
columns = {name: values[:, None] for name, values in table.items()}

buckets = layers.Discretization([30.0, 40.0, 50.0, 65.0])
normalize = layers.Normalization(axis=-1)
normalize.adapt(columns["pressure"])
scaled = keras.ops.convert_to_numpy(normalize(columns["pressure"][:3]))
print("normalized", np.round(scaled.ravel(), 4).tolist())

inputs = {
    "age": keras.Input(shape=(1,), name="age"),
    "pressure": keras.Input(shape=(1,), name="pressure"),
    "sex": keras.Input(shape=(1,), name="sex", dtype="int32"),
    "thal": keras.Input(shape=(1,), name="thal", dtype="int32"),
}
encoded = [
    layers.CategoryEncoding(num_tokens=5, output_mode="one_hot")(buckets(inputs["age"])),
    normalize(inputs["pressure"]),
    layers.CategoryEncoding(num_tokens=2, output_mode="one_hot")(inputs["sex"]),
    layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")(inputs["thal"]),
]
x = layers.concatenate(encoded)
x = layers.EinsumDense("ab,bc->ac", output_shape=16, bias_axes="c", activation="relu")(x)
x = layers.Identity()(x)
output = layers.Dense(1, activation="sigmoid")(x)
model = keras.Model(inputs, output)
for layer in model.layers[::-1]:
    if isinstance(layer, (layers.Dense, layers.EinsumDense)):
        layer.set_weights([rng.normal(0, 0.3, w.shape) for w in layer.get_weights()])
model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
history = model.fit(columns, target, batch_size=16, epochs=3, shuffle=False, verbose=0)
for name in ("loss", "accuracy", "auc"):
    print(name, *(f"{v:.5g}" for v in history.history[name]))
sample = {name: values[:2] for name, values in columns.items()}
print("predicted", np.round(model.predict(sample, verbose=0).ravel(), 5).tolist())

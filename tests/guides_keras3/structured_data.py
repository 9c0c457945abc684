"""A regression on columns by name, with normalized inputs, an average of its own and a dict of
figures."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(8)
columns = {name: rng.normal(size=(60, 1)) * (i + 1) for i, name in enumerate(["age", "bp", "chol"])}
columns["sex"] = rng.integers(0, 2, (60, 1))
risks = (columns["age"] - 0.5 * columns["chol"] > 0).astype("float32")
labels = {"risk": risks, "hidden": np.zeros((60, 6))}
inputs = {name: keras.Input((1,), name=name) for name in columns}
encoded = []
for name in ["age", "bp", "chol"]:
    normalizer = layers.Normalization(name=f"norm_{name}")
    normalizer.adapt(columns[name])
    encoded.append(normalizer(inputs[name]))
encoded.append(inputs["sex"])
x = layers.Concatenate()(encoded)
hidden = layers.Dense(6, activation="relu", name="hidden")(x)
risk = layers.Dense(1, activation="sigmoid", name="risk")(hidden)
model = keras.Model(inputs, {"risk": risk, "hidden": hidden})
for name in ("hidden", "risk"):
    layer = model.get_layer(name)
    layer.set_weights([rng.normal(scale=0.5, size=w.shape) for w in layer.get_weights()])
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss={"risk": "binary_crossentropy", "hidden": None},
    metrics={"risk": ["accuracy", keras.metrics.Precision(), keras.metrics.Recall()]},
)
history = model.fit(
    columns, labels, epochs=3, batch_size=20, validation_split=0.25, shuffle=False,
    verbose=0,
)  # fmt: skip
for name, values in history.history.items():
    print(name, values)
print(model.evaluate(columns, labels, verbose=0, return_dict=True))
sample = {name: values[:2] for name, values in columns.items()}
predictions = model.predict(sample, verbose=0)
print({name: predictions[name] for name in sorted(predictions)})


def batches():
    while True:
        for start in range(0, 60, 15):
            part = slice(start, start + 15)
            yield (
                {name: values[part] for name, values in columns.items()},
                {name: values[part] for name, values in labels.items()},
            )


print(model.fit(batches(), steps_per_epoch=4, epochs=1, verbose=0).history)
print(model.evaluate(batches(), steps=4, verbose=0))
print(sorted(model.compute_output_shape(dict.fromkeys(columns, (7, 1))).items()))

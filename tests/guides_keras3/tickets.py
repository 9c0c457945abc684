"""Functional API: a model with dicts of inputs and of outputs that ranks tickets."""

import keras
import numpy as np
from keras import layers

num_tags, num_words, num_departments = 6, 50, 4
title_input = keras.Input(shape=(None,), name="title")
body_input = keras.Input(shape=(None,), name="body")
tags_input = keras.Input(shape=(num_tags,), name="tags")
title_features = layers.Embedding(num_words, 8)(title_input)
body_features = layers.Embedding(num_words, 8)(body_input)
title_features = layers.LSTM(8)(title_features)
body_features = layers.LSTM(4)(body_features)
x = layers.concatenate([title_features, body_features, tags_input])
priority = layers.Dense(1, name="priority")(x)
department = layers.Dense(num_departments, name="department")(x)
model = keras.Model(
    inputs={"title": title_input, "body": body_input, "tags": tags_input},
    outputs={"priority": priority, "department": department},
)
rng = np.random.default_rng(2)
for layer in sorted(model.layers, key=lambda layer: layer.name):
    layer.set_weights([rng.normal(scale=0.3, size=w.shape) for w in layer.get_weights()])
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss={
        "priority": keras.losses.BinaryCrossentropy(from_logits=True),
        "department": keras.losses.CategoricalCrossentropy(from_logits=True),
    },
    loss_weights={"priority": 1.0, "department": 0.2},
    metrics={"department": ["accuracy"], "priority": ["mae", keras.metrics.AUC(from_logits=True)]},
)
data = {
    "title": rng.integers(num_words, size=(64, 5)),
    "body": rng.integers(num_words, size=(64, 9)),
    "tags": rng.integers(2, size=(64, num_tags)).astype("float32"),
}
targets = {
    "priority": rng.integers(2, size=(64, 1)).astype("float32"),
    "department": np.eye(num_departments)[rng.integers(num_departments, size=64)],
}
weights = {"priority": np.linspace(0, 2, 64), "department": np.ones(64)}
history = model.fit(
    data,
    targets,
    epochs=2,
    batch_size=32,
    shuffle=False,
    verbose=0,
    validation_data=(data, targets, weights),
)
for name, values in history.history.items():
    print(name, values)
print(model.evaluate(data, targets, sample_weight=weights, verbose=0))
print(model.evaluate(data, targets, verbose=0, return_dict=True))
print(model.train_on_batch(data, targets, return_dict=True))
print(model.test_on_batch(data, targets))
predicted = model.predict(data, verbose=0)
print(sorted(predicted), predicted["priority"].shape, predicted["department"][:2])
called = model({name: values[:2] for name, values in data.items()})
print(list(called), keras.ops.convert_to_numpy(called["priority"]).ravel())


class Tickets(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        part = slice(16 * index, 16 * index + 16)
        cut = [{k: v[part] for k, v in one.items()} for one in (data, targets, weights)]
        return tuple(cut)


print(model.fit(Tickets(), shuffle=False, verbose=0).history)
print(model.evaluate(Tickets(), verbose=0))

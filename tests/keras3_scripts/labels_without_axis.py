"""Labels of shape (samples,), as they lie in most data sets, in losses and metrics of one's own."""

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)
x = rng.normal(size=(12, 6)).astype("float32")
y = rng.integers(0, 3, size=(12,))


def hits(y_true, y_pred):
    found = ops.argmax(y_pred, -1) == ops.cast(y_true, "int32")
    return ops.mean(ops.cast(found, "float32"))


def one_hot_loss(y_true, y_pred):
    wanted = ops.one_hot(ops.cast(y_true, "int32"), 3)
    assert len(wanted.shape) == len(y_pred.shape)
    return -ops.sum(wanted * ops.log(y_pred), -1)


class Share(keras.metrics.Metric):
    def __init__(self, name="share", **kwargs):
        super().__init__(name=name, **kwargs)
        self.right = self.add_weight(name="right", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        right = ops.equal(ops.argmax(y_pred, -1), ops.cast(y_true, "int32"))
        self.right.assign_add(ops.sum(ops.cast(right, "float32")))
        self.seen.assign_add(ops.cast(ops.shape(y_true)[0], "float32"))

    def result(self):
        return self.right / ops.maximum(self.seen, 1)

    def reset_state(self):
        self.right.assign(0.0)
        self.seen.assign(0.0)


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return x[4 * index : 4 * index + 4], y[4 * index : 4 * index + 4]


class OfKnown(keras.losses.Loss):
    def call(self, y_true, y_pred):
        each = keras.losses.SparseCategoricalCrossentropy(reduction=None)(y_true, y_pred)
        known = ops.cast(y_true > 0, "float32")
        return ops.sum(each * known) / ops.sum(known)


def batches():
    while True:
        for index in range(3):
            yield x[4 * index : 4 * index + 4], y[4 * index : 4 * index + 4]


def with_weights(model):
    draw = np.random.default_rng(5)
    shapes = [w.shape for w in model.get_weights()]
    model.set_weights([draw.normal(size=shape).astype("float32") * 0.4 for shape in shapes])
    return model


def classifier(loss, metrics):
    model = keras.Sequential([keras.Input((6,)), layers.Dense(3, activation="softmax")])
    with_weights(model).compile("adam", loss, metrics=metrics)
    return model


def show(history):
    for key in sorted(history.history):
        print("  ", key, np.round(history.history[key], 5).tolist())


few = {"epochs": 2, "shuffle": False, "verbose": 0}
for loss in ("sparse_categorical_crossentropy", one_hot_loss):
    model = classifier(loss, [hits, Share(), "sparse_categorical_accuracy"])
    print(np.round(model.evaluate(x, y, verbose=0), 5).tolist())
    show(model.fit(x, y, batch_size=4, validation_data=(x[:6], y[:6]), **few))
    shares = np.linspace(0, 1, 12)
    print(np.round(model.evaluate(x, y, verbose=0, sample_weight=shares), 5).tolist())
    print(np.round(model.train_on_batch(x, y), 5).tolist())
    print(np.round(model.test_on_batch(x, y), 5).tolist())
    print(
        np.round(classifier(loss, [hits]).evaluate(x, y[:, None], verbose=0), 5).tolist()[:1]
        if loss != one_hot_loss
        else ""
    )
show(classifier(one_hot_loss, [hits, Share()]).fit(Batches(), **few))
show(classifier(one_hot_loss, [hits, Share()]).fit(batches(), steps_per_epoch=3, **few))

inputs = keras.Input((5, 4))
model = with_weights(keras.Model(inputs, layers.Dense(3, activation="softmax")(inputs)))
model.compile("adam", OfKnown(), metrics=[hits])
steps = rng.normal(size=(8, 5, 4)).astype("float32"), rng.integers(0, 3, size=(8, 5))
show(model.fit(*steps, batch_size=4, **few))

inputs = keras.Input((6,))
kind = layers.Dense(3, activation="softmax", name="kind")(inputs)
size = layers.Dense(1, name="size")(inputs)
model = with_weights(keras.Model(inputs, [kind, size]))
model.compile(
    "sgd", {"kind": one_hot_loss, "size": "mse"}, metrics={"kind": [hits], "size": ["mae"]}
)
show(model.fit(x, {"kind": y, "size": y.astype("float32")}, batch_size=6, **few))

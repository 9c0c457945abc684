"""Losses, metrics and layers of one's own that compare with Python's signs."""

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 6)).astype("float32")
y = rng.integers(0, 3, size=(32,))
y[::5] = -1


class MaskedLoss(keras.losses.Loss):
    def call(self, y_true, y_pred):
        y_true = ops.cast(y_true, "int32")
        kept = ops.cast(y_true != -1, "float32")
        known = ops.where(y_true == -1, 0, y_true)
        return keras.losses.sparse_categorical_crossentropy(known, y_pred) * kept


class Hits(keras.metrics.Metric):
    def __init__(self, name="hits", **kwargs):
        super().__init__(name=name, **kwargs)
        self.right = self.add_weight(name="right", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = ops.cast(ops.reshape(y_true, (-1,)), "int32")
        found = ops.cast(ops.argmax(y_pred, -1), "int32")
        self.right.assign_add(ops.sum(ops.cast((y_true == found) & (y_true >= 0), "float32")))
        self.seen.assign_add(ops.sum(ops.cast(y_true != -1, "float32")))

    def result(self):
        return self.right / ops.maximum(self.seen, 1.0)

    def reset_state(self):
        self.right.assign(0.0)
        self.seen.assign(0.0)


class Gate(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="w")

    def call(self, inputs):
        h = inputs @ self.w
        inside = ops.where((h > 0) & (h < 1), h, ops.zeros_like(h))
        return inside + ops.cast(h // 1 == 0, "float32") * (h % 0.5)


weights = [rng.normal(size=(6, 8)) * 0.4, np.zeros(8), rng.normal(size=(8, 3)) * 0.4, np.zeros(3)]
model = keras.Sequential(
    [keras.Input((6,)), layers.Dense(8, activation="tanh"), layers.Dense(3, activation="softmax")]
)
model.set_weights([w.astype("float32") for w in weights])
model.compile(
    keras.optimizers.AdamW(0.01, weight_decay=0.01), MaskedLoss(), metrics=[Hits(), "accuracy"]
)
history = model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history
for key in sorted(history):
    print(key, [round(float(v), 5) for v in history[key]])
print([round(float(v), 5) for v in model.evaluate(x, y, verbose=0, batch_size=8)])
hits = Hits()
hits.update_state(np.array([0, 1, -1]), np.eye(3, dtype="float32"))
print(float(hits.result()))
print(np.round(np.asarray(Gate(2)(x[:3])), 5).tolist())
inputs = keras.Input((6,))
gate = keras.Model(inputs, Gate(4)(inputs))
print(np.round(gate.predict(x[:2], verbose=0), 5).tolist())

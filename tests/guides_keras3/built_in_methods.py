"""Training with the built-in methods: losses and metrics of one's own, weights, two outputs."""

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(3)


def set_weights(model):
    for layer in sorted(model.layers, key=lambda layer: layer.name):
        layer.set_weights([rng.normal(scale=0.3, size=w.shape) for w in layer.get_weights()])


def get_uncompiled_model():
    inputs = keras.Input(shape=(10,), name="digits")
    x = layers.Dense(8, activation="relu", name="dense_1")(inputs)
    x = layers.Dense(8, activation="relu", name="dense_2")(x)
    model = keras.Model(inputs, layers.Dense(3, activation="softmax", name="predictions")(x))
    set_weights(model)
    return model


x_train, y_train = rng.normal(size=(48, 10)).astype("float32"), rng.integers(0, 3, 48)
one_hot = np.eye(3, dtype="float32")[y_train]


def custom_mean_squared_error(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred), axis=-1)


class CustomMSE(keras.losses.Loss):
    def __init__(self, regularization_factor=0.1, name="custom_mse"):
        super().__init__(name=name)
        self.regularization_factor = regularization_factor

    def call(self, y_true, y_pred):
        mse = ops.mean(ops.square(y_true - y_pred), axis=-1)
        reg = ops.mean(ops.square(0.5 - y_pred), axis=-1)
        return mse + reg * self.regularization_factor


for loss in (custom_mean_squared_error, CustomMSE(), keras.losses.KLDivergence()):
    model = get_uncompiled_model()
    model.compile(optimizer=keras.optimizers.Adam(), loss=loss, metrics=["accuracy", "mae"])
    history = model.fit(x_train, one_hot, batch_size=16, epochs=2, shuffle=False, verbose=0)
    print(history.history)
    print(model.evaluate(x_train, one_hot, verbose=0))


class ActivityRegularizationLayer(layers.Layer):
    def call(self, inputs):
        self.add_loss(ops.sum(inputs) * 0.1)
        return inputs


inputs = keras.Input(shape=(10,), name="digits")
x = ActivityRegularizationLayer()(layers.Dense(8, activation="relu", name="dense_1")(inputs))
model = keras.Model(inputs, layers.Dense(3, name="predictions")(x))
set_weights(model)
model.compile("rmsprop", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(model.fit(x_train, y_train, batch_size=16, shuffle=False, verbose=0).history)

model = get_uncompiled_model()
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["sparse_categorical_accuracy"],
    weighted_metrics=["sparse_categorical_crossentropy"],
)
class_weight = {0: 1.0, 1: 1.0, 2: 2.0}
sample_weight = np.where(y_train == 2, 2.0, 1.0)
print(
    model.fit(
        x_train, y_train, class_weight=class_weight, batch_size=16, shuffle=False, verbose=0
    ).history
)
print(
    model.fit(
        x_train, y_train, sample_weight=sample_weight, batch_size=16, shuffle=False, verbose=0
    ).history
)
print(
    model.fit(
        x_train, y_train, validation_data=(x_train, y_train, sample_weight), epochs=1,
        steps_per_epoch=None, shuffle=False, verbose=0,
    ).history
)  # fmt: skip

image_input = keras.Input(shape=(8, 8, 3), name="img_input")
timeseries_input = keras.Input(shape=(None, 5), name="ts_input")
x1 = layers.GlobalMaxPooling2D()(layers.Conv2D(3, 3)(image_input))
x2 = layers.GlobalMaxPooling1D()(layers.Conv1D(3, 3)(timeseries_input))
x = layers.concatenate([x1, x2])
score_output = layers.Dense(1, name="score_output")(x)
class_output = layers.Dense(5, name="class_output")(x)
model = keras.Model([image_input, timeseries_input], [score_output, class_output])
set_weights(model)
img, ts = rng.normal(size=(20, 8, 8, 3)), rng.normal(size=(20, 7, 5))
score, cls = rng.normal(size=(20, 1)), np.eye(5)[rng.integers(0, 5, 20)]
cce = keras.losses.CategoricalCrossentropy(from_logits=True)
model.compile(
    keras.optimizers.RMSprop(1e-3),
    loss=[keras.losses.MeanSquaredError(), cce],
    metrics=[
        [keras.metrics.MeanAbsolutePercentageError(), keras.metrics.MeanAbsoluteError()],
        [keras.metrics.CategoricalAccuracy()],
    ],
)
print(model.fit([img, ts], [score, cls], batch_size=8, shuffle=False, verbose=0).history)
print(model.evaluate([img, ts], [score, cls], verbose=0))
model.compile(
    keras.optimizers.RMSprop(1e-3),
    loss={"class_output": cce, "score_output": "mse"},
    metrics={"score_output": ["mape", "mae"], "class_output": ["categorical_accuracy"]},
    loss_weights={"score_output": 2.0, "class_output": 1.0},
)
named = {"img_input": img, "ts_input": ts}, {"score_output": score, "class_output": cls}
print(model.fit(*named, batch_size=8, shuffle=False, verbose=0).history)
print(model.evaluate(*named, verbose=0))
model.compile(keras.optimizers.RMSprop(1e-3), loss=[None, cce])
print(model.fit([img, ts], [score, cls], batch_size=8, shuffle=False, verbose=0).history)
model.compile(metrics=[["mae"], ["accuracy"]])
print(model.evaluate([img, ts], [score, cls], verbose=0, return_dict=True))

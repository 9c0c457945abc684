"""The columns of kerascope and Keras 3: the same code builds and trains the models of both."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from benchmarks.paired.peers.base import Peer, Run

OPTIMIZERS = {"rmsprop": "RMSprop", "adam": "Adam", "sgd": "SGD"}


class Column(Peer):
    """The columns of kerascope and Keras 3, which train the same model.

    The variants of kerascope are "kerascope", "kerascope-function" (its compiled train function
    alone, without the checks of `train_on_batch`) and "kerascope-jax" (its engine JAX). The other
    variants are the backends of Keras 3: "jax", "numpy", "tensorflow", "torch".
    """

    def start(self) -> None:
        """Import kerascope or Keras; for Keras, set its backend before."""
        self.trains = self.variant != "numpy"
        if self.variant.startswith("kerascope"):
            self.keras: Any = importlib.import_module("kerascope")
            self.keras.backend.set_engine("jax" if self.variant == "kerascope-jax" else "numpy")
            return
        self.epsilon = "inside"
        os.environ["KERAS_BACKEND"] = self.variant
        if self.variant == "tensorflow":
            threading = importlib.import_module("tensorflow").config.threading
            threading.set_intra_op_parallelism_threads(self.threads)
            threading.set_inter_op_parallelism_threads(self.threads)
        elif self.variant == "torch":
            importlib.import_module("torch").set_num_threads(self.threads)
        self.keras = importlib.import_module("keras")

    def build(self) -> Any:
        """Return the compiled model with the initial weights."""
        makers = {
            "dense": self.dense,
            "convolutional": self.convolutional,
            "recurrent": self.recurrent,
            "transformer": self.transformer,
        }
        model = self.keras.models.Model(*makers[self.workload.kind]())
        model.set_weights(self.first_weights)
        optimizer = getattr(self.keras.optimizers, OPTIMIZERS[self.workload.optimizer])
        if self.trains:
            model.compile(optimizer(self.workload.learning_rate), self.workload.loss)
        return model

    def dense(self) -> tuple[Any, Any]:
        """Return the input and output tensors of a net of dense layers."""
        layers, (first, *hidden, last) = self.keras.layers, self.workload.widths
        inputs = x = layers.Input(shape=(first,))
        for width in hidden:
            x = layers.Dense(width, activation="relu")(x)
        return inputs, layers.Dense(last, activation=self.workload.last)(x)

    def convolutional(self) -> tuple[Any, Any]:
        """Return the input and output tensors of the net of W3, which has two convolutions."""
        layers = self.keras.layers
        inputs = x = layers.Input(shape=(28, 28, 1))
        x = layers.Conv2D(32, 3, activation="relu")(x)
        x = layers.Conv2D(64, 3, activation="relu")(x)
        x = layers.MaxPooling2D(2)(x)
        x = layers.Flatten()(x)
        x = layers.Dense(128, activation="relu")(x)
        return inputs, layers.Dense(10, activation=self.workload.last)(x)

    def recurrent(self) -> tuple[Any, Any]:
        """Return the input and output tensors of the net of W4, which has an LSTM."""
        layers, workload = self.keras.layers, self.workload
        inputs = layers.Input(shape=(workload.times, workload.features))
        x = layers.LSTM(workload.units, recurrent_activation="sigmoid")(inputs)
        return inputs, layers.Dense(1)(x)

    def transformer(self) -> tuple[Any, Any]:
        """Return the input and output tensors of a GPT, in which a token sees those before it."""
        layers, workload = self.keras.layers, self.workload
        units, heads = workload.units, workload.heads

        class Positions(layers.Layer):  # type: ignore[name-defined, misc]
            """A layer that adds a learned vector to each position."""

            def build(self, input_shape: Any) -> None:
                """Add the weight that contains a vector for each position."""
                self.table = self.add_weight(
                    name="table", shape=(workload.times, units), initializer="zeros"
                )
                super().build(input_shape)

            def call(self, inputs: Any) -> Any:
                """Return the inputs plus the vectors of their positions."""
                return inputs + self.table

        inputs = layers.Input(shape=(workload.times,), dtype="int32")
        x = Positions()(layers.Embedding(workload.features, units)(inputs))
        for _ in range(workload.blocks):
            y = layers.LayerNormalization(epsilon=1e-5)(x)
            attention = layers.MultiHeadAttention(heads, units // heads)
            x = layers.Add()([x, attention(y, y, use_causal_mask=True)])
            y = layers.LayerNormalization(epsilon=1e-5)(x)
            y = layers.Dense(units)(layers.Dense(4 * units, activation="relu")(y))
            x = layers.Add()([x, y])
        x = layers.LayerNormalization(epsilon=1e-5)(x)
        return inputs, layers.Dense(workload.features, activation=workload.last)(x)

    def train(self, net: Any, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step by `train_on_batch`; return its loss."""
        return float(np.ravel(net.train_on_batch(x, y))[0])

    def forward(self, net: Any, x: np.ndarray) -> np.ndarray:
        """Return the outputs of one batch."""
        return np.asarray(net.predict(x, batch_size=len(x), verbose=0))

    def step(self, batch: int) -> Run | None:
        """Return a function (n) that calls `train_on_batch` n times.

        In the variant "kerascope-function" it calls the train function of the model instead.
        """
        x, y = self.x[:batch], self.y[:batch]
        if self.variant == "kerascope-function":
            self.net.train_on_batch(x, y)
            function, arrays = self.net.train_function, [x, y, np.ones(batch, "float32")]
            return lambda times: [function(arrays) for _ in range(times)]
        train = self.net.train_on_batch
        return (lambda times: [train(x, y) for _ in range(times)]) if self.trains else None

    def fit(self, batch: int) -> Run | None:
        """Return a function (n) that calls `fit` for n epochs."""
        if not self.trains or self.variant == "kerascope-function":
            return None
        fit, x, y = self.net.fit, self.x, self.y
        return lambda times: fit(x, y, batch_size=batch, epochs=times, verbose=0)

    def predict(self, batch: int) -> Run | None:
        """Return a function (n) that calls `predict` on the rows n times."""
        if self.variant == "kerascope-function":
            return None
        predict, x = self.net.predict, self.rows_to_predict
        return lambda times: [predict(x, batch_size=batch, verbose=0) for _ in range(times)]

    def losses(self, count: int) -> list[float]:
        """Return the first losses of training; [] if the backend cannot train."""
        return super().losses(count) if self.trains else []

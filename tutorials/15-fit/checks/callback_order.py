"""Compares the student's predicted calls with those in a `fit` with the same callbacks."""

import numpy as np

from kerascope.callbacks import Callback
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


class Once(Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = True


class Listener(Callback):
    def __init__(self):
        self.calls, self.sizes, self.names = [], [], []

    def on_train_begin(self, logs=None):
        self.calls.append("train_begin")

    def on_train_end(self, logs=None):
        self.calls.append("train_end")

    def on_epoch_begin(self, epoch, logs=None):
        self.calls.append(f"epoch_begin {epoch}")

    def on_epoch_end(self, epoch, logs=None):
        self.calls.append(f"epoch_end {epoch}")
        self.names = sorted(logs)

    def on_batch_begin(self, batch, logs=None):
        self.calls.append(f"batch_begin {batch}")
        self.sizes.append(logs["size"])

    def on_batch_end(self, batch, logs=None):
        self.calls.append(f"batch_end {batch}")


@check
def predictions(student):
    inputs = Input(shape=(3,))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse")
    x, y = np.ones((5, 3)), np.zeros((5, 1))
    heard = Listener()
    callbacks = [Once(), heard]
    model.fit(
        x, y, batch_size=2, epochs=3, verbose=0, callbacks=callbacks, validation_data=(x, y)
    )  # fmt: skip
    found = student.get("calls")
    student.require(
        isinstance(found, (list, tuple)),
        en=f"expected calls to be a list, yours is {type(found).__name__}",
        zh=f"calls 应是列表，你的是 {type(found).__name__}",
    )
    student.order("calls", found, heard.calls)
    student.same("sizes", student.get("sizes"), heard.sizes)
    why = Text("no metrics were asked for", "没有要求别的评价")
    student.same("names", student.get("names"), heard.names, why)

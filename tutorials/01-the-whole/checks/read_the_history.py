"""Tests the student's functions on models that really train; the validation losses are given."""

import numpy as np

from kerascope.callbacks import Callback
from kerascope.layers import Dense
from kerascope.learn import Text, check
from kerascope.models import Sequential

TRAININGS = (
    {"samples": 50, "batch_size": 32, "initial_epoch": 3, "epochs": 8},
    {"samples": 64, "batch_size": 16, "initial_epoch": 0, "epochs": 3},
    {"samples": 10, "batch_size": 32, "initial_epoch": 1, "epochs": 2},
    {"samples": 50, "batch_size": 32, "initial_epoch": 2, "epochs": 9, "stops_after": 4},
    {"samples": 12, "batch_size": 5, "initial_epoch": 4, "epochs": 11},
)
# Chosen so that the smallest is not the last, nor always the first that is smaller than the next.
LOSSES = (0.9, 0.2, 0.5, 0.6, 0.7, 0.1, 0.3)


class Counter(Callback):
    def __init__(self, stops_after):
        self.batches = 0
        self.stops_after = stops_after

    def on_batch_end(self, batch, logs=None):
        self.batches += 1

    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = epoch == self.stops_after


def trained(samples, batch_size, initial_epoch, epochs, stops_after=None):
    numbers = np.random.RandomState(0)
    x, y = numbers.normal(size=(samples, 4)), numbers.normal(size=(samples, 1))
    model = Sequential([Dense(1, input_shape=(4,), kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    counter = Counter(stops_after)
    history = model.fit(
        x,
        y,
        batch_size=batch_size,
        initial_epoch=initial_epoch,
        epochs=epochs,
        callbacks=[counter],
        verbose=0,
    )
    history.history["val_loss"] = list(LOSSES[: len(history.epoch)])
    return history, counter.batches


def words_of(training):
    return ", ".join(f"{name}={value}" for name, value in training.items())


@check
def the_best_epoch(student):
    best_epoch = student.function("best_epoch")
    for training in TRAININGS:
        history, _ = trained(**training)
        losses = history.history["val_loss"]
        number = history.epoch[losses.index(min(losses))]
        what = Text(
            f"best_epoch of the training with {words_of(training)}",
            f"训练 {words_of(training)} 的 best_epoch",
        )
        told = f"epochs {history.epoch}, val_loss {losses}"
        student.same(what, best_epoch(history), number, Text(told, told))


@check
def the_batches(student):
    batches_seen = student.function("batches_seen")
    for training in TRAININGS:
        history, batches = trained(**training)
        what = Text(
            f"batches_seen of the training with {words_of(training)}",
            f"训练 {words_of(training)} 的 batches_seen",
        )
        student.same(what, batches_seen(history), batches)

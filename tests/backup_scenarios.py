"""Whole runs that a backup must carry over a kill: each builds all anew, as a script does.

`run` trains and returns all that a user could look at, as texts: two runs are the same if these
are equal. As a program (`backup_scenarios.py SCENARIO FOLDER KILL OPTIONS`) it can kill itself like
`kill -9`, at any of its calls or at an aimed place; a run that comes to its end writes
`result.json` into the folder.
"""

import itertools
import json
import os
import random
import signal
import struct
import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from kerascope import callbacks as cb  # noqa: E402
from kerascope import settings  # noqa: E402
from kerascope.backend.variables import Variable  # noqa: E402
from kerascope.errors import SpellingWarning  # noqa: E402
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout, GaussianNoise  # noqa: E402
from kerascope.metrics import BinaryAccuracy  # noqa: E402
from kerascope.models import Sequential  # noqa: E402
from kerascope.preprocessing.image import ImageDataGenerator  # noqa: E402
from kerascope.preprocessing.sequence import TimeseriesGenerator  # noqa: E402
from kerascope.utils import Sequence  # noqa: E402

EPOCHS = 4


# --- what a user writes ---------------------------------------------------------------------------


class Diary(cb.Callback):
    """A callback of one's own, with a memory, and with draws from the global generators."""

    def __init__(self, wait=2):
        self.wait = wait
        self.losses = []
        self.by_epoch = {}
        self.rng = np.random.default_rng(5)

    def on_batch_end(self, batch, logs=None):
        self.losses.append((batch, logs["loss"]))
        self.last = np.random.rand()

    def on_epoch_end(self, epoch, logs=None):
        self.wait -= 1
        self.by_epoch[epoch] = [random.random(), self.rng.normal(), logs["loss"]]


class Shuffled(Sequence):
    """Shuffles its own rows, in place, and adds noise of a generator of its own."""

    def __init__(self, rows, targets, batch_size=6):
        self.rows, self.targets, self.batch_size = rows, targets, batch_size
        self.order = np.arange(len(rows))
        self.noise = np.random.RandomState(3)
        self.asked = 0

    def __len__(self):
        return len(self.rows) // self.batch_size

    def __getitem__(self, number):
        self.asked += 1
        places = self.order[number * self.batch_size : (number + 1) * self.batch_size]
        return self.rows[places] + self.noise.rand() + np.random.rand(), self.targets[places]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


class Pure(Sequence):
    """Batches that depend on nothing but their number."""

    def __init__(self, rows, targets):
        self.rows, self.targets = rows, targets

    def __len__(self):
        return 7

    def __getitem__(self, number):
        return self.rows[number * 5 : number * 5 + 5], self.targets[number * 5 : number * 5 + 5]


class Counted:
    """An iterator whose place is in its attributes."""

    def __init__(self, rows, targets):
        self.rows, self.targets = rows, targets
        self.number = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.number += 7
        places = (np.arange(5) + self.number) % len(self.rows)
        return self.rows[places], self.targets[places]


class Telling:
    """An iterator that says itself where it is: what it reads from cannot be looked at."""

    def __init__(self, rows, targets):
        self.rows, self.targets = rows, targets
        self.set_state(0)

    def __next__(self):
        self.number += 1
        places = next(self.places)
        return self.rows[places], self.targets[places]

    def get_state(self):
        return self.number

    def set_state(self, state):
        every = ((np.arange(5) + 3 * n) % len(self.rows) for n in itertools.count())
        self.places, self.number = itertools.islice(every, state, None), state


def plain_generator(rows, targets):
    """Yield random rows for ever."""
    rng = np.random.default_rng(8)
    while True:
        places = rng.integers(0, len(rows), 5)
        yield rows[places], targets[places]


# --- runs -----------------------------------------------------------------------------------------


def rows_and_targets(n=44):
    rows = np.random.rand(n, 4).astype("float32")
    return rows, (rows.sum(axis=1, keepdims=True) > 2).astype("float32")


def small(**compiled):
    model = Sequential(
        [
            Dense(6, activation="tanh", input_shape=(4,)),
            BatchNormalization(),
            Dropout(0.25),
            Dense(1, activation="sigmoid"),
        ]
    )
    settings = {"optimizer": "adam", "loss": "mse", "metrics": ["mae"], **compiled}
    model.compile(**settings)
    return model


def everything(folder):
    return [
        cb.CSVLogger(folder / "log.csv"),
        cb.EarlyStopping(patience=3, restore_best_weights=True),
        cb.ReduceLROnPlateau(patience=1, factor=0.5, min_delta=1.0),
        Diary(),
        cb.ModelCheckpoint(
            folder / "w{epoch}-{val_loss:.6f}.h5", save_best_only=True, save_weights_only=True
        ),
        cb.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
        cb.TensorBoard(folder / "board", update_freq="batch"),
    ]


def arrays(folder, fit):
    model = small(metrics=["mae", BinaryAccuracy()])
    x, y = rows_and_targets()
    weights = np.random.rand(len(x))
    return fit(
        model, everything(folder), x, y, batch_size=7, validation_split=0.2, sample_weight=weights
    )


def steps_of_arrays(folder, fit):
    settings.config.dialect = "3"  # an epoch has a third of the batches there
    x, y = rows_and_targets()
    return fit(small(), [Diary()], x, y, batch_size=3, steps_per_epoch=5)


def class_weights(folder, fit):
    model = small(optimizer="rmsprop", loss="binary_crossentropy")
    x, y = rows_and_targets()
    return fit(model, [Diary()], x, y, batch_size=8, shuffle="batch", class_weight={0: 1.0, 1: 3.0})


def stopped_early(folder, fit):
    class StopInTheMiddle(cb.Callback):
        def on_batch_end(self, batch, logs=None):
            self.seen = getattr(self, "seen", 0) + 1
            self.model.stop_training = self.seen == 9

    x, y = rows_and_targets()
    return fit(small(), [StopInTheMiddle(), Diary()], x, y, batch_size=8)


def stateful(folder, fit):
    model = Sequential(
        [
            GaussianNoise(0.1, batch_input_shape=(4, 3, 2)),
            LSTM(3, stateful=True, dropout=0.2, recurrent_dropout=0.2),
            Dense(1),
        ]
    )
    model.compile("nadam", "mse")
    x, y = np.random.rand(24, 3, 2), np.random.rand(24, 1)
    return fit(model, [], x, y, batch_size=4, shuffle=False)


def sequence(folder, fit):
    made = Shuffled(*rows_and_targets())
    watched = Shuffled(*rows_and_targets(), batch_size=11)
    return fit(
        small(), [Diary()], made, steps_per_epoch=5, validation_data=watched, validation_steps=3
    )


def workers(folder, fit):
    return fit(small(), [Diary()], Pure(*rows_and_targets()), workers=2, max_queue_size=3)


def counted(folder, fit):
    made = Counted(*rows_and_targets())
    watched = Counted(*rows_and_targets(20))
    return fit(small(), [], made, steps_per_epoch=6, validation_data=watched, validation_steps=2)


def samples_counted(folder, fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpellingWarning)
        return fit(small(), [], Counted(*rows_and_targets()), samples_per_epoch=23)


def telling(folder, fit):
    return fit(small(), [], Telling(*rows_and_targets()), steps_per_epoch=6)


def forward(folder, fit):
    return fit(small(), [Diary()], plain_generator(*rows_and_targets()), steps_per_epoch=6)


def images(folder, fit):
    model = Sequential([Dense(2, input_shape=(4, 4, 1)), Dropout(0.2)])
    model.compile("sgd", "mse")
    maker = ImageDataGenerator(horizontal_flip=True, width_shift_range=1)
    pictures = np.random.rand(20, 4, 4, 1)
    made = maker.flow(pictures, np.random.rand(20, 4, 4, 2), batch_size=4)
    return fit(model, [], made)


def times(folder, fit):
    rows = np.random.rand(30, 4)
    made = TimeseriesGenerator(rows, np.random.rand(30, 3, 1)[:, 0], length=3, batch_size=5)
    model = Sequential([Dense(2, input_shape=(3, 4)), LSTM(1, dropout=0.3)])
    model.compile("sgd", "mse")
    return fit(model, [], made)


SCENARIOS = {
    function.__name__: function
    for function in (
        *(arrays, class_weights, stopped_early, stateful, sequence, workers, counted, telling),
        *(steps_of_arrays, samples_counted),
        *(forward, images, times),
    )
}


def run(scenario, folder, epochs=EPOCHS, extra=(), dialect="2.2", seed=11, **options):
    """Train as a scenario says, in a folder; return all that can be looked at, by name.

    Without `options` for `BackupAndRestore` there is none: nothing disturbs that run.
    """
    folder = Path(folder)
    made = {}

    def fit(model, callbacks, *data, **arguments):
        own = list(callbacks)
        if options:
            given = {"read_forward": True, **options} if scenario == "forward" else options
            callbacks = [cb.BackupAndRestore(folder / "backup", **given), *callbacks]
        callbacks = interleaved(callbacks, extra)
        history = model.fit(*data, epochs=epochs, verbose=0, callbacks=callbacks, **arguments)
        made.update(model=model, callbacks=own, history=history, data=data)

    before = settings.config.dialect
    settings.config.dialect = dialect
    try:
        np.random.seed(seed)
        random.seed(seed)
        SCENARIOS[scenario](folder, fit)
        return looked_at(folder, **made)
    finally:
        settings.config.dialect = before


def interleaved(callbacks, extra):
    """Return callbacks with others among them: `extra` has pairs (place, callback)."""
    callbacks = list(callbacks)
    for place, callback in extra:
        callbacks.insert(place, callback)
    return callbacks


def looked_at(folder, model, callbacks, history, data):
    optimizer = model.optimizer
    found = {f"weight {i}": as_text(w) for i, w in enumerate(model.get_weights())}
    found |= {f"slot {i}": as_text(w.get_value()) for i, w in enumerate(optimizer.weights)}
    for update in model.train_function.updates:
        found[f"state {len(found)}"] = as_text(update.variable.get_value())
    for name, value in vars(optimizer).items():
        if isinstance(value, Variable):
            found[f"optimizer.{name}"] = as_text(value.get_value())
    found["history"] = repr((history.epoch, history.history))
    found["stopped"] = repr(model.stop_training)
    found["engine"] = repr(settings.config.engine)
    for callback in callbacks:
        label, plain = type(callback).__name__, (int, float, list, dict, np.random.Generator)
        for name, value in vars(callback).items():
            if isinstance(value, plain) and name not in ("params", "validation_data"):
                found[f"{label}.{name}"] = as_words(value)
    found["draws"] = repr((np.random.rand(3).tolist(), random.random()))
    if isinstance(data[0], (Shuffled, Counted, Telling)):
        found |= {f"data.{name}": as_words(value) for name, value in vars(data[0]).items()}
    for path in sorted(folder.glob("*.csv")):
        found[path.name] = path.read_text(encoding="utf-8")
    events = [events_in(path) for path in sorted(folder.glob("board/*"))]
    found["events"] = repr([one for one in events if len(one) > 1])  # a run that was killed at once
    found["files"] = repr(sorted(path.name for path in folder.glob("w*.h5")))
    return found


def as_words(value):
    """Return what a value is, without the addresses of objects."""
    if isinstance(value, np.random.RandomState):
        return repr(value.get_state())
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    return as_text(value) if isinstance(value, np.ndarray) else repr(value).partition(" at 0x")[0]


def as_text(array):
    array = np.asarray(array)
    return f"{array.dtype}{array.shape} {array.tobytes().hex()}"


def events_in(path):
    """Return the events of a file for TensorBoard, without their clock times."""
    content, found, place = path.read_bytes(), [], 0
    while place < len(content):
        (length,) = struct.unpack_from("<Q", content, place)
        found.append(content[place + 12 + 9 : place + 12 + length].hex())
        place += 16 + length
    return found


# --- being killed ---------------------------------------------------------------------------------


def die():
    """End as by `kill -9`: nothing more is done, no file closed, no `finally` run."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def acting_at(hook, n, act):
    """Return a callback that acts between two others: at the n-th call of one of its hooks."""
    left = [n]

    def count(*arguments):
        left[0] -= 1
        if not left[0]:
            act()

    return cb.LambdaCallback(**{hook: count})


def kill_at_call(n):
    """Kill at the n-th call that Python makes from here on, of its own functions and of C's."""
    left = [n]

    def count(frame, event, argument):
        if event in ("call", "c_call"):
            left[0] -= 1
            if not left[0]:
                die()

    sys.setprofile(count)
    return left


def kill_at_rename(n, after):
    """Kill just before or just after the n-th rename of a backup."""
    rename, left = os.replace, [n]

    def replace(source, target, **options):
        is_backup = Path(target).name.startswith("training.")
        left[0] -= is_backup
        if is_backup and not left[0] and not after:
            die()
        rename(source, target, **options)
        if is_backup and not left[0] and after:
            die()

    os.replace = replace
    Path.replace = lambda path, target: (replace(path, target), Path(target))[1]


def main(scenario, folder, kill, options):
    how, n, *rest = json.loads(kill) or [None, 0]
    extra, left = [], None
    if how == "call":
        left = kill_at_call(n)
    elif how == "rename":
        kill_at_rename(n, *rest)
    elif how is not None:
        place, hook = rest
        extra = [(place, acting_at(hook, n, die))]
    result = run(scenario, folder, extra=extra, **json.loads(options))
    sys.setprofile(None)
    if left is not None:
        result["calls"] = n - left[0]
    Path(folder, "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

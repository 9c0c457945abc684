"""The workloads W1 to W10: the net, the optimizer, the number of rows, and what is measured.

This module does not need NumPy, because the driver and the report read it, too. `data.py` creates
arrays and weights.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("dense", "convolutional", "recurrent", "transformer")


class Mistake(Exception):
    """Raised for an invalid argument of the command line. The message lists the valid ones."""


def unknown(what: str, name: str, known: Iterable[str]) -> Mistake:
    """Return the error for an unknown name, with the most similar known name."""
    names = {known_name.lower(): known_name for known_name in known}
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f"Did you mean {names[near[0]]!r}? " if near else ""
    return Mistake(f"unknown {what} {name!r}. {hint}Known: {', '.join(names.values())}.")


@dataclass(frozen=True)
class Workload:
    """One net with its data and its training, such as W1.

    Attributes
    ----------
    title : str
        The title in the report.
    kind : {"dense", "convolutional", "recurrent", "transformer"}
        The type of net; there is one convolutional net.
    optimizer, loss : str
        "rmsprop", "adam" or "sgd"; "binary_crossentropy", "categorical_crossentropy",
        "sparse_categorical_crossentropy" or "mse".
    learning_rate : float
    rows, batch : int
        Samples in the data, and in the batch for comparing the first losses.
    widths : tuple of int
        Dense nets: width of the input and of each layer.
    last : str
        Activation of the last layer; the others of a dense net have relu.
    times, features, units : int
        Recurrent nets: steps in time, width of the input, units of the LSTM. Transformers:
        `times` tokens, of `features` different ones, each a vector of `units`.
    heads, blocks : int
        Transformers: heads of each attention, and number of blocks.
    """

    title: str
    kind: str
    optimizer: str
    loss: str
    learning_rate: float
    rows: int
    batch: int
    widths: tuple[int, ...] = ()
    last: str = "linear"
    times: int = 0
    features: int = 0
    units: int = 0
    heads: int = 0
    blocks: int = 0


WORKLOADS = {
    "W1": Workload(
        title="20-64-64-1, rmsprop",
        kind="dense",
        optimizer="rmsprop",
        loss="binary_crossentropy",
        learning_rate=1e-3,
        rows=50,
        batch=32,
        widths=(20, 64, 64, 1),
        last="sigmoid",
    ),
    "W2": Workload(
        title="784-512-512-10, adam",
        kind="dense",
        optimizer="adam",
        loss="categorical_crossentropy",
        learning_rate=1e-3,
        rows=6400,
        batch=128,
        widths=(784, 512, 512, 10),
        last="softmax",
    ),
    "W3": Workload(
        title="CNN 28x28, conv 32 and 64, adam",
        kind="convolutional",
        optimizer="adam",
        loss="categorical_crossentropy",
        learning_rate=1e-3,
        rows=1280,
        batch=32,
        last="softmax",
    ),
    "W4": Workload(
        title="LSTM(32), 50 times, adam",
        kind="recurrent",
        optimizer="adam",
        loss="mse",
        learning_rate=1e-3,
        rows=320,
        batch=32,
        times=50,
        features=16,
        units=32,
    ),
    "W5": Workload(
        title="200 x Dense(32), sgd",
        kind="dense",
        optimizer="sgd",
        loss="mse",
        learning_rate=1e-5,
        rows=320,
        batch=32,
        widths=(32,) * 201,
    ),
    "W6": Workload(
        title="CNN of W3, 10,000 images",
        kind="convolutional",
        optimizer="adam",
        loss="categorical_crossentropy",
        learning_rate=1e-3,
        rows=10_000,
        batch=32,
        last="softmax",
    ),
    "GPT": Workload(
        title="4 causal blocks of 128, 64 tokens of 256, adam",
        kind="transformer",
        optimizer="adam",
        loss="sparse_categorical_crossentropy",
        learning_rate=3e-4,
        rows=64,
        batch=16,
        last="softmax",
        times=64,
        features=256,
        units=128,
        heads=4,
        blocks=4,
    ),
}

OTHERS = {
    "W7": "chains of 1,000, 5,000 and 10,000 Dense layers: build, map, compile, summary, JSON",
    "W8": "cold start: import, first trained step of W1, peak memory",
    "W9": "the same as W7, with a residual Add after every Dense",
    "W10": "W1 to W5 and GPT on JAX in fresh processes: the first train step, without a cache of "
    "compiled programs and with one",
}


TITLES = {
    "W8.import": ": cold start; import, and peak memory",
    "W8.first_step": ": cold start; to the first trained step of W1",
}


@dataclass(frozen=True)
class Metric:
    """What is measured of a workload, such as the time of a train step.

    Attributes
    ----------
    workload : str
        The name of the workload, such as "W1".
    what : {"step", "fit", "predict", "memory"}
        One `train_on_batch`; one epoch of `fit`; `predict` of all rows; bytes of a train step.
    batch : int
        The number of samples in a batch.
    title : str
        The title in the report.
    """

    workload: str
    what: str
    batch: int
    title: str


METRICS = {
    "W1.step": Metric("W1", "step", 32, "train step, batch 32"),
    "W1.fit": Metric("W1", "fit", 32, "fit, an epoch of 2 steps"),
    "W1.predict": Metric("W1", "predict", 32, "predict of 32 rows"),
    "W1.memory": Metric("W1", "memory", 32, "memory of a train step"),
    "W2.step": Metric("W2", "step", 128, "train step, batch 128"),
    "W2.fit": Metric("W2", "fit", 128, "fit, an epoch of 50 steps"),
    "W2.memory": Metric("W2", "memory", 128, "memory of a train step"),
    "W3.step32": Metric("W3", "step", 32, "train step, batch 32"),
    "W3.step128": Metric("W3", "step", 128, "train step, batch 128"),
    "W3.fit": Metric("W3", "fit", 128, "fit, an epoch of 10 steps"),
    "W3.memory": Metric("W3", "memory", 32, "memory of a train step"),
    "W4.step": Metric("W4", "step", 32, "train step, batch 32"),
    "W4.fit": Metric("W4", "fit", 32, "fit, an epoch of 10 steps"),
    "W4.memory": Metric("W4", "memory", 32, "memory of a train step"),
    "W5.step": Metric("W5", "step", 32, "train step, batch 32"),
    "W5.fit": Metric("W5", "fit", 32, "fit, an epoch of 10 steps"),
    "W5.memory": Metric("W5", "memory", 32, "memory of a train step"),
    "W6.predict32": Metric("W6", "predict", 32, "predict, batch 32"),
    "W6.predict128": Metric("W6", "predict", 128, "predict, batch 128"),
    "GPT.step": Metric("GPT", "step", 16, "train step, batch 16"),
}


def chosen(words: Iterable[str]) -> list[str]:
    """Return the names of the metrics that names such as "W1" or "W2.step" mean, in table order.

    W7, W8 and W9 have no single metrics, and are returned themselves.

    Raises
    ------
    Mistake
        If a name is neither a workload nor a metric.

    Examples
    --------
    >>> chosen(["w1.step", "W8"])
    ['W1.step', 'W8']
    """
    known = [*WORKLOADS, *OTHERS, *METRICS]
    by_lower_case = {name.lower(): name for name in known}
    wanted = set()
    for word in words:
        name = by_lower_case.get(word.lower())
        if name is None:
            raise unknown("workload", word, known)
        wanted.add(name)
    order = [*METRICS, *OTHERS]
    return [m for m in order if m in wanted or m.split(".")[0] in wanted]


def titled(metric: str) -> str:
    """Return the title of a metric in the report: 'W1 step' and the net."""
    if metric not in METRICS:
        return f"{metric}{TITLES.get(metric, '')}"
    found = METRICS[metric]
    return f"{metric}: {WORKLOADS[found.workload].title}; {found.title}"

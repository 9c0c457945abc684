"""The data and the first weights of the workloads: the same arrays for every column."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.paired.workloads import WORKLOADS, Workload

SIDE, CLASSES = 28, 10


def glorot(
    rng: np.random.Generator, shape: tuple[int, ...], fan_in: int, fan_out: int
) -> np.ndarray:
    """Return float32 numbers, uniform in +-sqrt(6 / (fan_in + fan_out))."""
    limit = math.sqrt(6 / (fan_in + fan_out))
    return rng.uniform(-limit, limit, shape).astype("float32")


def weights(name: str) -> list[np.ndarray]:
    """Return the initial weights of a workload, in the order and the layouts of Keras."""
    workload = WORKLOADS[name]
    rng = np.random.default_rng(7)
    make = {
        "dense": dense_weights,
        "convolutional": convolutional_weights,
        "recurrent": recurrent_weights,
        "transformer": transformer_weights,
    }
    return make[workload.kind](workload, rng)


def dense_weights(workload: Workload, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the kernels and biases of a dense net.

    In a deep chain the kernels are scaled so that values neither grow nor shrink along the chain.
    """
    found = []
    for fan_in, fan_out in zip(workload.widths, workload.widths[1:], strict=False):
        if len(workload.widths) > 8:
            kernel = rng.standard_normal((fan_in, fan_out)) * math.sqrt(2 / fan_in)
            found.append(kernel.astype("float32"))
        else:
            found.append(glorot(rng, (fan_in, fan_out), fan_in, fan_out))
        found.append(np.zeros(fan_out, "float32"))
    return found


def convolutional_weights(workload: Workload, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the weights of two convolutions (32 and 64 channels, 3x3) and two dense layers."""
    return [
        glorot(rng, (3, 3, 1, 32), 9, 288),
        np.zeros(32, "float32"),
        glorot(rng, (3, 3, 32, 64), 288, 576),
        np.zeros(64, "float32"),
        glorot(rng, (9216, 128), 9216, 128),
        np.zeros(128, "float32"),
        glorot(rng, (128, CLASSES), 128, CLASSES),
        np.zeros(CLASSES, "float32"),
    ]


def recurrent_weights(workload: Workload, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the weights of an LSTM (gates i, f, c, o; the bias of f is 1) and a dense layer."""
    features, units = workload.features, workload.units
    bias = np.zeros(4 * units, "float32")
    bias[units : 2 * units] = 1
    return [
        glorot(rng, (features, 4 * units), features, 4 * units),
        glorot(rng, (units, 4 * units), units, 4 * units),
        bias,
        glorot(rng, (units, 1), units, 1),
        np.zeros(1, "float32"),
    ]


def transformer_weights(workload: Workload, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the weights of a transformer: two embeddings, the blocks, and the last layers.

    A block has a normalization, an attention, a normalization and two dense layers.
    """
    units, heads = workload.units, workload.heads
    size = units // heads
    zeros, ones = (np.zeros(units, "float32"), np.ones(units, "float32"))
    found = [
        glorot(rng, (workload.features, units), workload.features, units),
        glorot(rng, (workload.times, units), workload.times, units),
    ]
    for _ in range(workload.blocks):
        found += [ones, zeros]
        for _ in range(3):  # query, key and value
            found.append(glorot(rng, (units, heads, size), units, units))
            found.append(np.zeros((heads, size), "float32"))
        found += [glorot(rng, (heads, size, units), units, units), zeros, ones, zeros]
        found += [glorot(rng, (units, 4 * units), units, 4 * units), np.zeros(4 * units, "float32")]
        found += [glorot(rng, (4 * units, units), 4 * units, units), zeros]
    head = glorot(rng, (units, workload.features), units, workload.features)
    return [*found, ones, zeros, head, np.zeros(workload.features, "float32")]


def arrays(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs and the targets of a workload as arrays.

    They are float32, or for a transformer tokens and the tokens that follow them.
    """
    workload = WORKLOADS[name]
    rng = np.random.default_rng(3)
    rows = workload.rows
    x: np.ndarray
    y: np.ndarray
    if workload.kind == "transformer":
        tokens = rng.integers(0, workload.features, (rows, workload.times + 1)).astype("int32")
        return tokens[:, :-1], tokens[:, 1:]
    if workload.kind == "convolutional":
        x = rng.random((rows, SIDE, SIDE, 1))
        y = np.eye(CLASSES)[rng.integers(0, CLASSES, rows)]
    elif workload.kind == "recurrent":
        x = rng.standard_normal((rows, workload.times, workload.features))
        y = rng.standard_normal((rows, 1))
    else:
        width = workload.widths[-1]
        x = rng.random((rows, workload.widths[0]))
        if workload.loss == "categorical_crossentropy":
            y = np.eye(width)[rng.integers(0, width, rows)]
        elif workload.loss == "binary_crossentropy":
            y = rng.integers(0, 2, (rows, width))
        else:
            y = rng.standard_normal((rows, width))
    return x.astype("float32"), y.astype("float32")

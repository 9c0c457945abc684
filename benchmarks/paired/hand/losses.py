"""Adds the NumPy calls of a loss to a program, together with the activation before the loss.

Arrays have features in rows and samples in columns.
"""

from __future__ import annotations

import numpy as np

from benchmarks.paired.hand.buffers import empty, number
from benchmarks.paired.hand.program import ALL_AXES, KEEP, Program


def add_loss(
    program: Program, loss: str, z: np.ndarray, y: np.ndarray, samples: int
) -> tuple[np.ndarray, str]:
    """Add the calls of a loss to a program; return d loss / d z, and the loss as source.

    Parameters
    ----------
    program : Program
    loss : str
        As the workload names it; binary crossentropy follows a sigmoid, categorical a softmax.
    z, y : ndarray, (features, samples)
        Outputs before their activation, and targets.
    samples : int
        The number of samples in the batch.
    """
    makers = {
        "binary_crossentropy": binary_crossentropy,
        "categorical_crossentropy": categorical_crossentropy,
        "mse": mean_squared_error,
    }
    return makers[loss](program, z, y, samples)


def binary_crossentropy(
    program: Program, z: np.ndarray, y: np.ndarray, samples: int
) -> tuple[np.ndarray, str]:
    """Add to a program the calls of binary crossentropy for targets y and sigmoid inputs z.

    With s = 1 - 2y: loss = log(1 + e^(sz)), gradient = s e^(sz) / (1 + e^(sz)) / samples.
    """
    sign, power, denominator, gradient = (empty(z.shape) for _ in range(4))
    total, one = number(), number(1)
    program("multiply", y, number(2), sign)
    program("subtract", one, sign, sign)
    program("multiply", sign, z, power)
    program("exp", power, power)
    program("add", power, one, denominator)
    program("divide", power, denominator, gradient)
    program("log", denominator, denominator)
    program("sum", denominator, ALL_AXES, None, total)
    program("multiply", sign, number(1 / samples), sign)
    program("multiply", gradient, sign, gradient)
    return gradient, f"float({program.name(total)}) / {samples}"


def categorical_crossentropy(
    program: Program, z: np.ndarray, y: np.ndarray, samples: int
) -> tuple[np.ndarray, str]:
    """Add to a program the calls of crossentropy for one-hot targets y and softmax inputs z.

    Loss = log(sum of e^z) - z of the class; gradient = (softmax(z) - y) / samples.
    """
    top, total = empty((1, samples)), empty((1, samples))
    power, gradient = empty(z.shape), empty(z.shape)
    logarithms, hits = number(), number()
    program("largest", z, 0, None, top, KEEP)
    program("subtract", z, top, z)
    program("exp", z, power)
    program("sum", power, 0, None, total, KEEP)
    program("divide", power, total, gradient)
    program("subtract", gradient, y, gradient)
    program("multiply", gradient, number(1 / samples), gradient)
    program("multiply", z, y, z)
    program("sum", z, ALL_AXES, None, hits)
    program("log", total, total)
    program("sum", total, ALL_AXES, None, logarithms)
    return (
        gradient,
        f"(float({program.name(logarithms)}) - float({program.name(hits)})) / {samples}",
    )


def mean_squared_error(
    program: Program, z: np.ndarray, y: np.ndarray, samples: int
) -> tuple[np.ndarray, str]:
    """Add to a program the calls of the mean squared error of outputs z and targets y.

    Loss = mean of (z - y)^2; gradient = 2 (z - y) / number of elements.
    """
    gradient, total = empty(z.shape), number()
    line = gradient.reshape(-1)
    program("subtract", z, y, gradient)
    program("dot", line, line, total)
    program("multiply", gradient, number(2 / z.size), gradient)
    return gradient, f"float({program.name(total)}) / {z.size}"


def activated(z: np.ndarray, activation: str) -> np.ndarray:
    """Return a net's outputs, one row per sample: the activation of the last layer's sums `z`."""
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-z.T))
    if activation == "softmax":
        power = np.exp(z - z.max(0))
        return (power / power.sum(0)).T
    return z.T.copy()

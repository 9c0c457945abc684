"""Measures a convolution and its two gradients, for shapes of well-known networks.

`OPENBLAS_NUM_THREADS=1 python benchmarks/convolution.py` prints milliseconds, the minimum of
several runs, and billions of products a second for the convolution. Each kernel writes into
existing memory, as in a compiled function. `--perform` measures the ops as the debugger calls them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Op
from kerascope.backend.ops.convolution import (
    ConvolutionKernelGradient,
    Convolve,
    ConvolveBack,
)


class Shapes(NamedTuple):
    """The shapes and settings of one measured convolution, which gets a row of the table."""

    what: str
    x: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: int = 1
    groups: int = 1


ROWS = (
    Shapes("ResNet50, first", (1, 230, 230, 3), (7, 7, 3, 64), 2),
    Shapes("ResNet50, 3x3 on 56", (1, 58, 58, 64), (3, 3, 64, 64)),
    Shapes("ResNet50, 1x1 on 56", (1, 56, 56, 64), (1, 1, 64, 256)),
    Shapes("ResNet50, 1x1 stride 2", (1, 56, 56, 256), (1, 1, 256, 512), 2),
    Shapes("ResNet50, 3x3 on 7", (1, 9, 9, 512), (3, 3, 512, 512)),
    Shapes("Inception, 1x7 on 17", (1, 17, 23, 160), (1, 7, 160, 192)),
    Shapes("MobileNet, depthwise on 112", (1, 114, 114, 32), (3, 3, 1, 32), 1, 32),
    Shapes("MobileNet, depthwise on 14", (1, 16, 16, 512), (3, 3, 1, 512), 1, 512),
    Shapes("digits, first, batch 32", (32, 28, 28, 1), (3, 3, 1, 32)),
    Shapes("digits, second, batch 32", (32, 26, 26, 32), (3, 3, 32, 64)),
)


def shortest(work: Callable[[], Any], times: int = 7) -> float:
    """Return the milliseconds of the fastest of several runs."""
    runs = []
    for _ in range(times + 1):
        begun = time.perf_counter()
        work()
        runs.append(time.perf_counter() - begun)
    return 1000 * min(runs[1:])


def call(op: Op, inputs: list[np.ndarray], result: np.ndarray) -> Callable[[], Any]:
    """Return a function to time, which calls an op's kernel, or with `--perform` its `perform`."""
    if "--perform" in sys.argv:
        return lambda: op.perform(*inputs)
    specs = [Spec(x.shape, x.dtype) for x in inputs]
    kernel: Any = op.kernel(specs, [Spec(result.shape, result.dtype)])
    out = np.empty_like(result)
    return lambda: kernel(out, *inputs)


def measure(row: Shapes) -> tuple[float, float, float, float]:
    """Time a convolution and its two gradients; return the times and the cost.

    Returns
    -------
    forward, to_input, to_kernel : float
        The times of the convolution and of its gradients, in milliseconds.
    products : float
        How many multiplications of two numbers the convolution needs.
    """
    rng = np.random.default_rng(0)
    axes = len(row.kernel) - 2
    how: Any = ((row.stride,) * axes, "valid", (1,) * axes, row.groups)
    x = rng.normal(size=row.x).astype("float32")
    kernel = rng.normal(size=row.kernel).astype("float32")
    y = Convolve(*how).perform(x, kernel)
    forward = shortest(call(Convolve(*how), [x, kernel], y))
    back = shortest(call(ConvolveBack(*how), [y, kernel, np.array(row.x)], x))
    gradient = ConvolutionKernelGradient(*how)
    to_kernel = shortest(call(gradient, [x, y, np.array(row.kernel)], kernel))
    return forward, back, to_kernel, y.size * prod(row.kernel[:-1])


def main() -> None:
    """Measure all convolutions, and print the table."""
    heads = ("forward", "to input", "to kernel", "G/s")
    print(f"{'milliseconds':>28}", *(f"{head:>10}" for head in heads))
    for row in ROWS:
        *times, products = measure(row)
        print(
            f"{row.what:>28}",
            *(f"{t:>10.2f}" for t in times),
            f"{products / times[0] / 1e6:>10.1f}",
        )


if __name__ == "__main__":
    main()

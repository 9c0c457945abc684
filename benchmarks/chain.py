"""Measures how the time for a chain of Dense(4) layers grows with its length, for each step.

`python benchmarks/chain.py [optimizer] [length ...]` prints a table and the ratio of the last
length to the first. If the time grows linearly, this is the ratio of the lengths. It is a little
larger, because a short chain fits into the processor's cache. Calls are counted exactly in
`tests/engine/test_scale.py`.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope import Input, Model
from kerascope.layers import Dense

STEPS = ("build", "map", "compile", "first step", "second step")


def chain(length: int) -> tuple[Any, Any]:
    """Return the input and the output tensor of a chain of this many Dense layers."""
    x = y = Input(shape=(4,))
    for _ in range(length):
        y = Dense(4)(y)
    return x, y


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of `work` and its time in seconds."""
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def measure(length: int, optimizer: str) -> list[float]:
    """Return the seconds of each step, such as building or mapping, for one chain of layers."""
    rows = np.ones((2, 4), "float32")
    (x, y), building = timed(lambda: chain(length))
    model, mapping = timed(lambda: Model(x, y))
    _, compiling = timed(lambda: model.compile(optimizer, "mse"))
    _, first = timed(lambda: model.train_on_batch(rows, rows))
    _, second = timed(lambda: model.train_on_batch(rows, rows))
    return [building, mapping, compiling, first, second]


def best_of(length: int, optimizer: str, times: int) -> list[float]:
    """Return the shortest time of each step in several runs."""
    runs = []
    for _ in range(times):
        gc.collect()
        runs.append(measure(length, optimizer))
    return [min(seconds) for seconds in zip(*runs, strict=True)]


def main(arguments: list[str]) -> None:
    """Measure chains of all lengths, and print the table."""
    optimizer = next((a for a in arguments if not a.isdigit()), "sgd")
    lengths = [int(a) for a in arguments if a.isdigit()] or [1_000, 10_000]
    measure(100, optimizer)  # warm up
    columns = {length: best_of(length, optimizer, 3) for length in lengths}
    first, last = columns[lengths[0]], columns[lengths[-1]]
    print(f"{optimizer:>12}", *(f"{length:>10,}" for length in lengths), f"{'ratio':>8}")
    for i, step in enumerate(STEPS):
        seconds = (f"{columns[length][i]:>9.3f}s" for length in lengths)
        print(f"{step:>12}", *seconds, f"{last[i] / first[i]:>8.1f}")
    sums = (f"{sum(columns[length]):>9.3f}s" for length in lengths)
    print(f"{'all':>12}", *sums, f"{sum(last) / sum(first):>8.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])

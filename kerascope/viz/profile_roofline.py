"""The roofline: how fast this machine multiplies matrices and copies memory, measured now.

An op cannot be faster than its products at the rate of the best matrix product, nor faster than its
bytes at the rate of the best copy. The greater of the two times is the least that it could take;
its share of what the op does take says how much there is left to win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

PRODUCT_SIZES = (256, 512, 1024)
COPY_BYTES = (1 << 14, 1 << 18, 1 << 22, 1 << 25)  # what fits into each cache, and into none
ROUNDS = 7  # after one that warms up
NANO = 1e-9


class Limit(NamedTuple):
    """The least time of an op, and what it is bound by: "products" or "memory"."""

    seconds: float
    bound_by: str


@dataclass(frozen=True)
class Roofline:
    """What this machine can do in float32, with the threads that NumPy has now.

    Attributes
    ----------
    flops : float
        Floating point operations in a second, of the best matrix product.
    size : int
        Of that product's matrices.
    bytes : dict of int to float
        Bytes read and written in a second, by how many bytes were copied.
    """

    flops: float
    size: int
    bytes: Mapping[int, float]

    def copy_rate(self, traffic: int) -> float:
        """Return the bytes in a second for an op that reads and writes so many.

        Examples
        --------
        >>> Roofline(1e9, 256, {1024: 4e9, 1 << 20: 1e9}).copy_rate(4096)
        4000000000.0
        """
        nearest = min(self.bytes, key=lambda n: abs(log2(2 * n) - log2(max(traffic, 1))))
        return self.bytes[nearest]

    def limit(self, multiply_adds: int, traffic: int) -> Limit:
        """Return the least time that an op could take.

        Examples
        --------
        >>> Roofline(1e9, 256, {1024: 4e9}).limit(500, 400)
        Limit(seconds=1e-06, bound_by='products')
        """
        products = 2 * multiply_adds / self.flops
        memory = traffic / self.copy_rate(traffic)
        if products >= memory:
            return Limit(products, "products")
        return Limit(memory, "memory")


def measure_roofline(clock: Callable[[], int] = perf_counter_ns) -> Roofline:
    """Measure this machine: matrix products and copies of some sizes; about a fifth of a second.

    Parameters
    ----------
    clock : callable
        Returns nanoseconds.
    """
    rng = np.random.default_rng(0)
    rates = {}
    for n in PRODUCT_SIZES:
        x, y = (rng.random((n, n), np.float32) for _ in range(2))
        room = np.empty((n, n), np.float32)
        rates[n] = 2 * n**3 / _best(clock, np.dot, x, y, room)
    size = max(rates, key=rates.__getitem__)
    copies = {}
    for n in COPY_BYTES:
        source, target = np.ones(n, np.uint8), np.zeros(n, np.uint8)
        copies[n] = 2 * n / _best(clock, np.copyto, target, source)
    return Roofline(rates[size], size, copies)


def _best(clock: Callable[[], int], call: Callable[..., object], *arrays: np.ndarray) -> float:
    """Return the least seconds of some calls."""
    call(*arrays)
    times = []
    for _ in range(ROUNDS):
        start = clock()
        call(*arrays)
        times.append(clock() - start)
    return max(min(times), 1) * NANO

"""The rows of a profile: ops with their shares and limits, and sums by phase and layer.

The limits are a roofline, measured on this machine at the time of profiling. An op cannot be faster
than its multiplications at the rate of the best matrix product, nor faster than its bytes at the
rate of the best copy. The larger of the two times is the minimum. Its share of the measured time
shows how much the op could still be improved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.backend.program.profiling import NANO, PHASES, MeasuredLine, timed
from kerascope.engine.costs import multiply_adds

NO_LAYER, RETURNED = "(no layer)", "(returned)"


class ProfileRow(NamedTuple):
    """The measurements of one op: its time, its traffic and its memory.

    Attributes
    ----------
    op, name, phase, layer : str
        As in `MeasuredLine`: "dot", "dense_1/dot", the phase, and the layer that the op belongs to.
    made_at : str
        The user's line that made the op or its layer: "train.py:11"; "" if unknown.
    seconds, share : float
        The time of the op, and its share of the time of all ops.
    multiply_adds : int
        0 for ops that are not products.
    traffic : int
        Bytes read and written.
    bound_by : str
        "products" or "memory": the larger of the two minimum times.
    of_limit : float or None
        Minimum time as a share of the measured time; None if either time is too short to measure.
    n_bytes : int
        Size of the results.
    memory : str
        Where the results are stored.
    line : int
        Line number in the text of the compiled program.

    Examples
    --------
    >>> from kerascope import K, profile
    >>> x, limits = K.placeholder((2, 3)), Roofline(1e9, 256, {1024: 4e9})
    >>> function = K.function([x], [K.exp(x)])
    >>> row = profile(function, [np.ones((2, 3))], repeats=3, roofline=limits).rows[0]
    >>> row.op, row.phase, row.traffic, row.n_bytes, row.bound_by
    ('exp', 'forward', 48, 24, 'memory')
    """

    op: str
    name: str
    phase: str
    layer: str
    seconds: float
    share: float
    multiply_adds: int
    traffic: int
    bound_by: str
    of_limit: float | None
    n_bytes: int
    memory: str
    line: int
    made_at: str = ""

    @property
    def rate(self) -> float:
        """Floating-point operations per second, or bytes per second if there are no products."""
        amount = 2 * self.multiply_adds or self.traffic
        return amount / self.seconds if self.seconds else 0.0


class PhaseRow(NamedTuple):
    """The time and the number of ops of a phase.

    Examples
    --------
    >>> from kerascope import K, profile
    >>> x, limits = K.placeholder((2, 3)), Roofline(1e9, 256, {1024: 4e9})
    >>> function = K.function([x], [K.exp(x)])
    >>> found = profile(function, [np.ones((2, 3))], repeats=3, roofline=limits)
    >>> [(row.phase, row.ops, row.n_bytes) for row in found.phases]
    [('forward', 1, 24), ('return', 1, 24)]
    """

    phase: str
    seconds: float
    share: float
    ops: int
    n_bytes: int


class LayerRow(NamedTuple):
    """The time of a layer. `forward` includes the time of loss, metrics and returned values.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,), name="scores")])
    >>> limits = Roofline(1e9, 256, {1024: 4e9})
    >>> found = ks.profile(model, np.ones((4, 3)), repeats=3, roofline=limits)
    >>> [(row.layer, row.class_name, row.ops) for row in found.layers]
    [('scores', 'Dense', 2), ('(returned)', '', 1)]
    """

    layer: str
    class_name: str
    forward: float
    backward: float
    update: float
    seconds: float
    share: float
    ops: int
    n_bytes: int


# Sort keys for ops.
ORDERS: dict[str, Callable[[ProfileRow], Any]] = {
    "time": lambda row: (-row.seconds, row.line),
    "memory": lambda row: (-row.n_bytes, row.line),
    "limit": lambda row: (row.of_limit is None, row.of_limit or 0.0, row.line),
    "name": lambda row: (row.name, row.line),
    "order": lambda row: row.line,
}


def rows_of(lines: Iterable[MeasuredLine], roofline: Roofline) -> list[ProfileRow]:
    """Return a row for each measured op."""
    lines = list(lines)
    total = sum(line.seconds for line in lines)
    return [_row(line, total, roofline) for line in lines]


def _row(line: MeasuredLine, total: float, roofline: Roofline) -> ProfileRow:
    count = _multiply_adds(line)
    limit = roofline.limit(count, line.traffic)
    return ProfileRow(
        op=line.op,
        name=line.name,
        phase=line.phase,
        layer=line.layer or (RETURNED if line.op == "return" else NO_LAYER),
        seconds=line.seconds,
        share=line.seconds / total if total else 0.0,
        multiply_adds=count,
        traffic=line.traffic,
        bound_by=limit.bound_by,
        of_limit=limit.seconds / line.seconds if line.seconds and limit.seconds else None,
        n_bytes=line.n_bytes,
        memory=line.memory,
        line=line.line,
        made_at=line.made_at,
    )


def _multiply_adds(line: MeasuredLine) -> int:
    """Return the number of multiply-adds of an op, or 0 if it is unknown."""
    if line.definition is None:
        return 0
    inputs, outputs = (
        [Tensor(spec.shape, spec.dtype.name, "measured") for spec in specs]
        for specs in (line.inputs, line.outputs)
    )
    try:
        return multiply_adds(line.definition, inputs, outputs) or 0
    except (IndexError, ValueError):  # the shape of an input is unknown
        return 0


def phase_rows(rows: Sequence[ProfileRow]) -> list[PhaseRow]:
    """Return the time of each phase, summed over its ops, in the order of `PHASES`."""
    found = []
    for phase in PHASES:
        own = [row for row in rows if row.phase == phase]
        if own:
            n_bytes = sum(row.n_bytes for row in own)
            found.append(PhaseRow(phase, *_sums(own), len(own), n_bytes))
    return found


def layer_rows(rows: Sequence[ProfileRow], classes: Mapping[str, str]) -> list[LayerRow]:
    """Return the time of each layer, summed over its ops, in the order of their first ops.

    Parameters
    ----------
    rows : list of ProfileRow
    classes : mapping of str to str
        The class of each layer; unknown layers may be missing.
    """
    by_layer: dict[str, list[ProfileRow]] = {}
    for row in rows:
        by_layer.setdefault(row.layer, []).append(row)
    found = []
    for layer, own in by_layer.items():
        backward, update = (
            sum(row.seconds for row in own if row.phase == phase)
            for phase in ("backward", "update")
        )
        others = [row for row in own if row.phase not in ("backward", "update")]
        seconds, share = _sums(own)
        forward = sum(row.seconds for row in others)
        n_bytes = sum(row.n_bytes for row in own)
        found.append(
            LayerRow(
                layer, classes.get(layer, ""), forward, backward, update,
                seconds, share, len(own), n_bytes,
            )
        )  # fmt: skip
    return found


def _sums(rows: Sequence[ProfileRow]) -> tuple[float, float]:
    return sum(row.seconds for row in rows), sum(row.share for row in rows)


# --- the roofline ---------------------------------------------------------------------------------

PRODUCT_SIZES = (256, 512, 1024)
COPY_BYTES = (1 << 14, 1 << 18, 1 << 22, 1 << 25)  # for each level of cache, and for main memory
ROUNDS = 7  # after a warm-up


class Limit(NamedTuple):
    """The minimum time of an op, and its cause: "products" or "memory"."""

    seconds: float
    bound_by: str


@dataclass(frozen=True)
class Roofline:
    """The limits of this machine in float32, with NumPy's present number of threads.

    Attributes
    ----------
    flops : float
        Floating point operations per second of the best matrix product.
    size : int
        Size of the matrices of that product.
    bytes : dict of int to float
        Bytes read and written per second, by the number of bytes copied.

    Examples
    --------
    >>> machine = Roofline(flops=1e9, size=256, bytes={1024: 4e9})
    >>> machine.limit(multiply_adds=500, traffic=400).bound_by
    'products'
    >>> machine.limit(multiply_adds=5, traffic=400).bound_by
    'memory'
    """

    flops: float
    size: int
    bytes: Mapping[int, float]

    def copy_rate(self, traffic: int) -> float:
        """Return the bytes per second for an op that reads and writes `traffic` bytes.

        Examples
        --------
        >>> Roofline(1e9, 256, {1024: 4e9, 1 << 20: 1e9}).copy_rate(4096)
        4000000000.0
        """
        nearest = min(self.bytes, key=lambda n: abs(log2(2 * n) - log2(max(traffic, 1))))
        return self.bytes[nearest]

    def limit(self, multiply_adds: int, traffic: int) -> Limit:
        """Return the minimum time of an op on this machine, and its cause: "products" or "memory".

        The op does `multiply_adds` multiply-adds, and reads and writes `traffic` bytes.

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
    """Measure this machine with matrix products and copies of several sizes, in about 0.2 seconds.

    Parameters
    ----------
    clock : callable
        Returns nanoseconds.
    """
    rng = np.random.default_rng(0)
    rates = {}
    for n in PRODUCT_SIZES:
        x, y = (rng.random((n, n), np.float32) for _ in range(2))
        out = np.empty((n, n), np.float32)
        rates[n] = 2 * n**3 / _best(clock, np.dot, x, y, out)
    size = max(rates, key=rates.__getitem__)
    copies = {}
    for n in COPY_BYTES:
        source, target = np.ones(n, np.uint8), np.zeros(n, np.uint8)
        copies[n] = 2 * n / _best(clock, np.copyto, target, source)
    return Roofline(rates[size], size, copies)


def _best(clock: Callable[[], int], call: Callable[..., object], *arrays: np.ndarray) -> float:
    """Return the shortest time of several calls of a function, in seconds."""
    call(*arrays)
    return max(min(timed(clock, call, *arrays)[0] for _ in range(ROUNDS)), 1) * NANO

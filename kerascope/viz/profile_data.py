"""The rows of a profile: ops with their shares and limits, and their sums by phase and layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kerascope.backend.program.profiling_lines import PHASES, MeasuredLine
from kerascope.backend.tensor import Tensor
from kerascope.engine.costs import multiply_adds
from kerascope.viz.profile_roofline import Roofline

NO_LAYER, RETURNED = "(no layer)", "(returned)"


class Row(NamedTuple):
    """One op of a call.

    Attributes
    ----------
    op, name, phase, layer : str
    seconds, share : float
    multiply_adds : int
        0 for an op that is no product.
    traffic : int
        Bytes that it reads and writes.
    bound_by : str
        "products" or "memory": what it could at best wait for.
    of_limit : float or None
        Least possible time, as a share of the time taken; None if either is too short to be told.
    n_bytes : int
        Of the results.
    memory : str
        Where these lie.
    line : int
        Number of the line in the program's text.
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

    @property
    def rate(self) -> float:
        """Floating point operations in a second for a product, else bytes in a second."""
        amount = 2 * self.multiply_adds or self.traffic
        return amount / self.seconds if self.seconds else 0.0


class PhaseRow(NamedTuple):
    """The time of a phase, and of how many ops."""

    phase: str
    seconds: float
    share: float
    ops: int
    n_bytes: int


class LayerRow(NamedTuple):
    """The time of a layer; `forward` counts the loss, metrics and what is returned too."""

    layer: str
    class_name: str
    forward: float
    backward: float
    update: float
    seconds: float
    share: float
    ops: int
    n_bytes: int


# What the ops can be sorted by.
ORDERS: dict[str, Callable[[Row], Any]] = {
    "time": lambda row: (-row.seconds, row.line),
    "memory": lambda row: (-row.n_bytes, row.line),
    "limit": lambda row: (row.of_limit is None, row.of_limit or 0.0, row.line),
    "name": lambda row: (row.name, row.line),
    "order": lambda row: row.line,
}


def rows_of(lines: Iterable[MeasuredLine], roofline: Roofline) -> list[Row]:
    """Return the rows of measured lines."""
    lines = list(lines)
    total = sum(line.seconds for line in lines)
    return [_row(line, total, roofline) for line in lines]


def _row(line: MeasuredLine, total: float, roofline: Roofline) -> Row:
    count = _multiply_adds(line)
    limit = roofline.limit(count, line.traffic)
    return Row(
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
    )


def _multiply_adds(line: MeasuredLine) -> int:
    """Return how many multiply-adds an op does; 0 if that is not known."""
    if line.definition is None:
        return 0
    inputs, outputs = (
        [Tensor(spec.shape, spec.dtype.name, "measured") for spec in specs]
        for specs in (line.inputs, line.outputs)
    )
    try:
        return multiply_adds(line.definition, inputs, outputs) or 0
    except (IndexError, ValueError):  # the shape of an input is not known
        return 0


def phase_rows(rows: Sequence[Row]) -> list[PhaseRow]:
    """Return the sums by phase, in their order."""
    found = []
    for phase in PHASES:
        own = [row for row in rows if row.phase == phase]
        if own:
            n_bytes = sum(row.n_bytes for row in own)
            found.append(PhaseRow(phase, *_sums(own), len(own), n_bytes))
    return found


def layer_rows(rows: Sequence[Row], classes: Mapping[str, str]) -> list[LayerRow]:
    """Return the sums by layer, in the order in which these come first.

    Parameters
    ----------
    rows : list of Row
    classes : mapping of str to str
        The class of each layer, as far as it is known.
    """
    by_layer: dict[str, list[Row]] = {}
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


def _sums(rows: Sequence[Row]) -> tuple[float, float]:
    return sum(row.seconds for row in rows), sum(row.share for row in rows)

"""How each line is written: a NumPy call into given memory, a view, or a call of `perform`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Op, Spec
from kerascope.backend.ops.broadcasting import Elementwise
from kerascope.backend.ops.shaping import Transpose
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.foreign import is_own
from kerascope.backend.program.trial import is_dense, is_in_order


class Kind(Enum):
    """Where the result of a line lies."""

    CALL = "computed into planned memory"
    VIEW = "a view of its first input"
    PERFORM = "returned by the op"


class Writing(NamedTuple):
    """How a line is written.

    Attributes
    ----------
    kind : Kind
    text : str
        A template with {0}, {1}, ... for the inputs and {out}.
    kernel : callable or None
        What the name `kernel` in the text stands for.
    can_overwrite : bool
        Whether the result may lie where an input of the same shape lies.
    """

    kind: Kind
    text: str
    kernel: Callable[..., object] | None = None
    can_overwrite: bool = False


def writing_of(bound: Bound, line: Line) -> Writing:
    """Return how a line is to be written."""
    listed = ", ".join(f"{{{i}}}" for i in range(len(line.inputs)))
    perform = line.op.perform if is_own(line.op) else _on_copies(line.op)
    plain = Writing(Kind.PERFORM, f"{{kernel}}({listed})", perform)
    facts = [bound.facts.get(slot) for slot in line.outputs]
    if line.op.is_view:
        return plain._replace(kind=Kind.VIEW, text=_text_of_view(line.op) or plain.text)
    if any(slot not in bound.facts for slot in line.inputs) or not all(facts):
        return plain
    known = [fact for fact in facts if fact is not None]
    if any(fact.shares or not is_dense(fact) for fact in known):
        return plain
    if line.op.ufunc is not None:
        return Writing(Kind.CALL, call_of(line.op.ufunc, listed, "{out}"), can_overwrite=True)
    if not all(map(is_in_order, known)):
        return plain
    inputs: list[Spec] = [bound.facts[slot].spec for slot in line.inputs]
    kernel = line.op.kernel(inputs, [fact.spec for fact in known])
    if kernel is None:
        return plain
    if isinstance(kernel, str):
        return Writing(Kind.CALL, kernel, can_overwrite=_reads_once(line.op, kernel))
    return Writing(Kind.CALL, f"{{kernel}}({{out}}, {listed})", kernel)


def _reads_once(op: Op, text: str) -> bool:
    """Tell whether a kernel reads its only input once, element by element, in its first call."""
    return isinstance(op, Elementwise) and text.count("{0}") == 1 and "{1}" not in text


def _text_of_view(op: Op) -> str | None:
    if not isinstance(op, Transpose):
        return None
    is_reversed = op.pattern[::-1] == tuple(range(len(op.pattern)))
    return "{0}.T" if is_reversed else f"{{0}}.transpose({op.pattern})"


def _on_copies(op: Op) -> Callable[..., object]:
    """Return the `perform` of a foreign op, which may keep its arrays; ours are used again."""

    def perform(*arrays: Any) -> Any:
        return op.perform(*map(copied, arrays))

    return perform


def copied(array: Any) -> Any:
    """Return a copy that lies in memory as the array does, for NumPy rounds by that too.

    Examples
    --------
    >>> copied(np.arange(3.0)[::-1]).strides
    (-8,)
    """
    if array is None:  # the input that a lazy op does not use
        return None
    copy = np.array(array)
    if not copy.size or copy.strides == np.asarray(array).strides:
        return copy
    reaches = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    first, last = sum(min(x, 0) for x in reaches), sum(max(x, 0) for x in reaches)
    room = np.empty(last - first + array.itemsize, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, room.data, -first, array.strides)
    np.copyto(copy, array)
    return copy


def call_of(ufunc: np.ufunc, operands: str, out: str) -> str:
    """Return the text of a call that computes into `out`.

    Examples
    --------
    >>> call_of(np.add, "x, y", "z"), call_of(np.maximum, "x, y", "z")
    ('np.add(x, y, z)', 'np.maximum(x, y, out=z)')
    """
    # NumPy wants the result of these two to be named: some took a third operand for it.
    word = "out=" if ufunc in (np.maximum, np.minimum) else ""
    return f"np.{ufunc.__name__}({operands}, {word}{out})"

"""What one plain run of a schedule tells of its arrays: shapes, types, and who shares memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Spec
from kerascope.backend.schedule import Step


class Fact(NamedTuple):
    """What is known of the array of a slot.

    Attributes
    ----------
    spec : Spec
    strides : tuple of int
        How the array that `perform` returned lies in memory.
    shares : tuple of int
        Inputs of its step, by slot, in whose memory it may lie.
    """

    spec: Spec
    strides: tuple[int, ...]
    shares: tuple[int, ...] = ()


Facts = dict[int, Fact]


def note(facts: Facts, step: Step, values: Sequence[Any]) -> None:
    """Note the results of a step that has just been performed.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> function = K.function([], [K.transpose(K.variable([[1.0, 2.0]]))])
    >>> facts = {}
    >>> values = []
    >>> for step in function._events([], values):
    ...     note(facts, step, values)
    >>> [(fact.spec.shape, fact.strides) for fact in facts.values()]
    [((2, 1), (4, 8))]
    """
    for slot in step.outputs:
        facts[slot] = fact_of(values[slot], step.inputs, values)


def fact_of(value: Any, inputs: Sequence[int] = (), values: Sequence[Any] = ()) -> Fact:
    """Return what is known of an array that was computed from the slots `inputs`."""
    array = np.asarray(value)
    shares = [
        slot
        for slot in dict.fromkeys(inputs)
        if array.ndim and np.may_share_memory(array, values[slot])
    ]
    return Fact(Spec(array.shape, array.dtype), array.strides, tuple(shares))


def is_dense(fact: Fact) -> bool:
    """Tell whether an array fills its memory without gaps, in whatever order of its axes."""
    expected = fact.spec.dtype.itemsize
    axes = [(s, n) for s, n in zip(fact.strides, fact.spec.shape, strict=True) if n != 1]
    for stride, size in sorted(axes):
        if stride != expected:
            return False
        expected *= size
    return True


def is_in_order(fact: Fact) -> bool:
    """Tell whether an array lies in memory row by row, as C has it."""
    expected = fact.spec.dtype.itemsize
    for stride, size in zip(reversed(fact.strides), reversed(fact.spec.shape), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True

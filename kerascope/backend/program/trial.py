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
    """Return what is known of an array that was computed from the slots `inputs`.

    A number of NumPy's lies in memory of its own; an array without axes may be a view.
    """
    array = np.asarray(value)
    shares = [
        slot
        for slot in dict.fromkeys(inputs)
        if array is value and np.may_share_memory(array, values[slot])
    ]
    return Fact(Spec(array.shape, array.dtype), array.strides, tuple(shares))


class Trial:
    """What a program is written from: the inputs of one run, and what that has told.

    It is kept beside the program, which may have to be written once more, or be explained. So it is
    small: equal facts are one, and of most inputs there are only shape and type.

    Parameters
    ----------
    arrays : list of array
        The inputs.
    numbers : dict of int to array
        Those inputs whose numbers count, such as conditions; nobody changes them.
    facts : dict of int to Fact

    Attributes
    ----------
    specs : list of Spec
        Of the inputs.
    numbers : dict of int to array

    Examples
    --------
    >>> trial = Trial([np.ones(3), np.array(True)], {1: np.array(True)}, {2: fact_of(np.ones(3))})
    >>> [array.shape for array in trial.arrays], trial.facts[2].strides
    ([(3,), ()], (8,))
    """

    __slots__ = ("_facts", "numbers", "specs")

    def __init__(
        self, arrays: Sequence[np.ndarray], numbers: dict[int, np.ndarray], facts: Facts
    ) -> None:
        self.specs = [Spec(array.shape, array.dtype) for array in arrays]
        self.numbers = numbers
        equal: dict[Any, Any] = {}

        def one(fact: Fact | None) -> Fact | None:
            return None if fact is None else Fact(*[equal.setdefault(x, x) for x in fact])

        listed = [one(facts.get(slot)) for slot in range(max(facts, default=-1) + 1)]
        self._facts = tuple([equal.setdefault(fact, fact) for fact in listed])

    @property
    def facts(self) -> Facts:
        """What is known, by slot."""
        return {slot: fact for slot, fact in enumerate(self._facts) if fact is not None}

    @property
    def arrays(self) -> list[np.ndarray]:
        """The inputs; stand-ins for those whose numbers do not count."""
        stand_ins = map(stand_in, self.specs)
        return [self.numbers.get(slot, array) for slot, array in enumerate(stand_ins)]


def stand_in(spec: Spec) -> np.ndarray:
    """Return an array of which shape and type are right; it has only one number."""
    return np.broadcast_to(np.zeros((), spec.dtype), spec.shape)


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

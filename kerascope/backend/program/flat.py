"""Updates of many weights at once: what an optimizer does to each, done to all in one array.

An optimizer treats every weight alike, number by number. So the weights can lie one after the other
in one array, their gradients in a second one, each kind of slot in a further one; and a handful of
NumPy calls updates them all. Large arrays are gone through in blocks that fit into the cache: all
calls on one block, then the next.

A group is found by what the lines of `update/<weight>` do: weights for which they are the same ops
on the same numbers, each exact (an addition gives the same bits wherever an element lies), are one
group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.memory import ALIGNMENT

# Ops whose every element is rounded exactly: no bit depends on where it lies in an array.
EXACT = (
    *(np.add, np.subtract, np.multiply, np.divide, np.sqrt, np.square, np.negative),
    *(np.absolute, np.sign, np.maximum, np.minimum),
)
SCOPE = "update/"


class Ref(NamedTuple):
    """An operand: "role" (a weight's own array), "local" (computed before) or "scalar" (a slot)."""

    kind: str
    place: int


@dataclass
class Part:
    """The lines of one weight.

    Attributes
    ----------
    lines : list of Line
    refs : list of tuple of Ref
        Operands of each line.
    roles : list of int
        Slots of the weight's own arrays, by first use: the weight, its gradient, its slots.
    targets : dict of int to int
        Which local is the new value of which role.
    """

    lines: list[Line] = field(default_factory=list)
    refs: list[tuple[Ref, ...]] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    targets: dict[int, int] = field(default_factory=dict)

    @property
    def locals(self) -> dict[int, int]:
        """The position of each slot that is computed here."""
        return {line.outputs[0]: index for index, line in enumerate(self.lines)}


@dataclass
class Group:
    """Weights that are updated together; every part does the same.

    Attributes
    ----------
    parts : list of Part
    variables : dict of int to list of Variable
        For each role that gets new values, the variables of all parts.
    dtype : np.dtype
    """

    parts: list[Part]
    variables: dict[int, list[Variable]]
    dtype: np.dtype

    @property
    def written(self) -> list[Variable]:
        """All variables that get new values."""
        return [v for several in self.variables.values() for v in several]


def find_groups(
    bound: Bound, updates: Mapping[Variable, int], outputs: Iterable[int]
) -> list[Group]:
    """Return the groups of a bound schedule, and take their lines out of it.

    Parameters
    ----------
    bound : Bound
    updates : dict of Variable to int
        Which slot is the new value of which variable.
    outputs : list of int
        Slots of what the function returns.
    """
    slots = dict(bound.schedule.variables)
    found = (_part(bound, lines) for lines in _by_scope(bound))
    parts = [part for part in found if part is not None]
    _find_targets(parts, slots, updates)
    parts = _independent(bound, parts, updates, set(outputs))
    alike: dict[Any, list[Part]] = {}
    for part in parts:
        alike.setdefault(_signature(bound, part), []).append(part)
    groups = []
    for several in alike.values():
        first = several[0]
        written = sorted(first.targets.values())
        variables = {index: [slots[part.roles[index]] for part in several] for index in written}
        groups.append(Group(several, variables, bound.facts[first.roles[0]].spec.dtype))
    gone = {id(line) for group in groups for part in group.parts for line in part.lines}
    bound.lines = [line for line in bound.lines if id(line) not in gone]
    return groups


def starts_of(shapes: Sequence[tuple[int, ...]], dtype: np.dtype) -> list[int]:
    """Return where arrays begin that lie one after the other, each from a cache line on.

    Returns
    -------
    list of int
        In numbers, not in bytes; one more than there are shapes: the last is where all end.

    Examples
    --------
    >>> starts_of([(3, 2), (2,)], np.dtype("float32"))
    [0, 16, 32]
    """
    line = max(ALIGNMENT // dtype.itemsize, 1)
    rooms = (-(-math.prod(shape) // line) * line for shape in shapes)
    return list(itertools.accumulate(rooms, initial=0))


def _by_scope(bound: Bound) -> Iterable[list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in bound.lines:
        scope = line.step.apply.scope.name
        if scope.startswith(SCOPE):
            found.setdefault(scope, []).append(line)
    return found.values()


def _part(bound: Bound, lines: Sequence[Line]) -> Part | None:
    """Return the lines of one weight as a part; None if they are more than exact arithmetic."""
    part = Part()
    places: dict[int, int] = {}
    spec = None
    for line in lines:
        own = bound.spec(line.outputs[0])
        if own is None or (own.shape == () and any(x in places for x in line.inputs)):
            return None
        if own.shape == ():
            continue  # a number for all weights, such as the rate: it is computed before
        spec = spec or own
        if own != spec or line.guards or line.op.ufunc not in EXACT or own.dtype.kind != "f":
            return None
        refs = [_ref(bound, slot, part, places, spec) for slot in line.inputs]
        if None in refs:
            return None
        places[line.outputs[0]] = len(part.lines)
        part.lines.append(line)
        part.refs.append(tuple(ref for ref in refs if ref is not None))
    return part if part.lines else None


def _ref(bound: Bound, slot: int, part: Part, places: dict[int, int], wanted: Any) -> Ref | None:
    if slot in places:
        return Ref("local", places[slot])
    spec = bound.spec(slot)
    if spec is not None and spec.shape == () and spec.dtype == wanted.dtype:
        return Ref("scalar", slot)
    if spec != wanted:
        return None
    if slot not in part.roles:
        part.roles.append(slot)
    return Ref("role", part.roles.index(slot))


def _find_targets(
    parts: Iterable[Part], slots: Mapping[int, Variable], updates: Mapping[Variable, int]
) -> None:
    for part in parts:
        places = part.locals
        for index, slot in enumerate(part.roles):
            new = updates.get(slots[slot]) if slot in slots else None
            if new in places:
                part.targets[places[new]] = index


def _independent(
    bound: Bound, parts: list[Part], updates: Mapping[Variable, int], outputs: set[int]
) -> list[Part]:
    """Return the parts of which nobody else reads anything but their new values."""
    while True:
        own = {id(line): i for i, part in enumerate(parts) for line in part.lines}
        home = {slot: i for i, part in enumerate(parts) for slot in part.locals}
        bad: set[int] = {home[slot] for slot in outputs if slot in home}
        for line in bound.lines:
            for slot in line.inputs:
                if slot in home and own.get(id(line)) != home[slot]:
                    bad.add(home[slot])
                    bad.update({own[id(line)]} if id(line) in own else ())
        bad.update(_reading_each_other(parts))
        counted: dict[int, int] = {}
        for new in updates.values():
            counted[new] = counted.get(new, 0) + 1
        for i, part in enumerate(parts):
            aims = {slot for slot, place in part.locals.items() if place in part.targets}
            news = {slot for slot in part.locals if slot in counted}
            if news != aims or any(counted[slot] > 1 for slot in aims) or not aims:
                bad.add(i)
        if not bad:
            return parts
        parts = [part for i, part in enumerate(parts) if i not in bad]


def _reading_each_other(parts: Sequence[Part]) -> set[int]:
    """Return the parts with an array that another part writes: it must still be the old one."""
    readers: dict[int, list[int]] = {}
    for i, part in enumerate(parts):
        for slot in part.roles:
            readers.setdefault(slot, []).append(i)
    written = {part.roles[role] for part in parts for role in part.targets.values()}
    return {i for slot in written for i in readers[slot] if len(readers[slot]) > 1}


def _signature(bound: Bound, part: Part) -> Any:
    """Return what two parts must have in common to be computed together."""
    return (
        bound.facts[part.roles[0]].spec.dtype.str,
        tuple(line.op.ufunc.__name__ for line in part.lines if line.op.ufunc is not None),
        tuple(part.refs),
        tuple(sorted(part.targets.items())),
    )

"""Updates of many weights at once: the update of an optimizer, computed on one flat array.

An optimizer treats all weights alike, element by element. So the weights can be stored one after
the other in one array, their gradients in a second, and each kind of optimizer slot in another. A
few NumPy calls then update all of them. Large arrays are processed in blocks that fit into the
cache: all calls on one block, then the next block.

Weights form a group if the lines in their scopes `update/<weight>` are the same ops with the same
scalars. All ops must be exact: their results do not depend on an element's position.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.arrays import ALIGNMENT, aligned
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.emit import Names, call_of, is_better_full
from kerascope.backend.variables import Variable

# Ops whose results are correctly rounded, so they do not depend on the position in an array.
EXACT = (
    *(np.add, np.subtract, np.multiply, np.divide, np.sqrt, np.square, np.negative),
    *(np.absolute, np.sign, np.maximum, np.minimum),
)
SCOPE = "update/"


class Ref(NamedTuple):
    """An operand of an update: an array of the weight, an earlier result, or a scalar.

    Attributes
    ----------
    kind : str
        "role" for an array of the weight, "local" for an earlier result, or "scalar".
    place : int
        For an array of the weight, its role: the index in `UpdatePart.roles`. For an earlier
        result, the index of its line. For a scalar, its slot.
    """

    kind: str
    place: int


@dataclass
class UpdatePart:
    """The lines that update one weight.

    Attributes
    ----------
    lines : list of Line
        In the order of the program.
    refs : list of tuple of Ref
        The operands of each line.
    roles : list of int
        The slots of the weight's own arrays, by first use: the weight, its gradient, and the
        optimizer's slots for it. An index in this list is the *role* of an array.
    targets : dict of int to int
        For each line whose result is a new value, by its index: the role that it updates.
    """

    lines: list[Line] = field(default_factory=list)
    refs: list[tuple[Ref, ...]] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    targets: dict[int, int] = field(default_factory=dict)

    @property
    def locals(self) -> dict[int, int]:
        """For each slot that the lines of this part compute, the index of its line."""
        return {line.outputs[0]: index for index, line in enumerate(self.lines)}


@dataclass
class Group:
    """Weights that are updated together, by the same ops.

    Attributes
    ----------
    parts : list of UpdatePart
        One for each weight.
    variables : dict of int to list of Variable
        For each kind of array that is updated, such as the weight or the optimizer's slot `m`, the
        variables of all parts. The key is the position of the kind in `UpdatePart.roles`.
    dtype : np.dtype
    """

    parts: list[UpdatePart]
    variables: dict[int, list[Variable]]
    dtype: np.dtype

    @property
    def written(self) -> list[Variable]:
        """All variables of the group that get new values."""
        return [v for several in self.variables.values() for v in several]


def find_groups(
    bound: Bound, updates: Mapping[Variable, int], outputs: Iterable[int]
) -> list[Group]:
    """Return the groups of weights that `bound` updates, and remove the lines that update them.

    Parameters
    ----------
    bound : Bound
        The schedule of a function, for inputs of certain shapes.
    updates : dict of Variable to int
        The slot of each variable's new value.
    outputs : list of int
        The slots of the function's outputs.
    """
    slots = dict(bound.schedule.variables)
    found = (_part(bound, lines) for lines in _by_scope(bound))
    parts = [part for part in found if part is not None]
    _find_targets(parts, slots, updates)
    parts = _independent(bound, parts, updates, set(outputs))
    alike: dict[Any, list[UpdatePart]] = {}
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
    """Return the offsets of consecutive arrays, each at the start of a cache line.

    Returns
    -------
    list of int
        In elements, one for each shape; then the end of the last array.

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


def _part(bound: Bound, lines: Sequence[Line]) -> UpdatePart | None:
    """Return the lines that update a weight as an `UpdatePart`; None unless all ops are `EXACT`."""
    part = UpdatePart()
    places: dict[int, int] = {}
    spec = None
    for line in lines:
        own = bound.spec(line.outputs[0])
        if own is None or (own.shape == () and any(x in places for x in line.inputs)):
            return None
        if own.shape == ():
            continue  # a scalar, such as the learning rate: computed separately
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


def _ref(
    bound: Bound, slot: int, part: UpdatePart, places: dict[int, int], wanted: Any
) -> Ref | None:
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
    parts: Iterable[UpdatePart], slots: Mapping[int, Variable], updates: Mapping[Variable, int]
) -> None:
    for part in parts:
        places = part.locals
        for index, slot in enumerate(part.roles):
            new = updates.get(slots[slot]) if slot in slots else None
            if new in places:
                part.targets[places[new]] = index


def _independent(
    bound: Bound, parts: list[UpdatePart], updates: Mapping[Variable, int], outputs: set[int]
) -> list[UpdatePart]:
    """Return the `UpdatePart`s that can be computed apart from all other lines.

    Each result of their lines is a new value, or only their own lines read it.
    """
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


def _reading_each_other(parts: Sequence[UpdatePart]) -> set[int]:
    """Return the indices of `UpdatePart`s with a common variable that one of them writes."""
    readers: dict[int, list[int]] = {}
    for i, part in enumerate(parts):
        for slot in part.roles:
            readers.setdefault(slot, []).append(i)
    written = {part.roles[role] for part in parts for role in part.targets.values()}
    return {i for slot in written for i in readers[slot] if len(readers[slot]) > 1}


def _signature(bound: Bound, part: UpdatePart) -> Any:
    """Return a key that is equal for `UpdatePart`s that can be computed together.

    It contains the dtype, the ops and the operands.
    """
    return (
        bound.facts[part.roles[0]].spec.dtype.str,
        tuple(line.op.ufunc.__name__ for line in part.lines if line.op.ufunc is not None),
        tuple(part.refs),
        tuple(sorted(part.targets.items())),
    )


# --- the memory of a group, and the loop that updates it block by block ---------------------------


BLOCK = 1 << 15  # elements: a few such arrays fit into the cache of a core


class Flat:
    """Arrays of many shapes stored in one flat array, each at the start of a cache line.

    Parameters
    ----------
    shapes : list of tuple of int
    dtype : np.dtype

    Attributes
    ----------
    whole : array, 1 axis
        The flat array.
    views : list of array
        The single arrays, as views of `whole`.

    Examples
    --------
    >>> flat = Flat([(3, 2), (2,)], np.dtype("float32"))
    >>> flat.whole.shape, [view.shape for view in flat.views]
    ((32,), [(3, 2), (2,)])
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtype: np.dtype) -> None:
        *starts, end = starts_of(shapes, dtype)
        self.whole = aligned(end * dtype.itemsize).view(dtype)
        self.views = [
            self.whole[start : start + math.prod(shape)].reshape(shape)
            for start, shape in zip(starts, shapes, strict=True)
        ]


# The flat arrays of a function's variables: variables of one kind are stored together.
Homes = dict[tuple[Variable, ...], Flat]


def stored_together(homes: Homes, variables: Sequence[Variable]) -> Flat:
    """Store these variables in one flat array, unless they already are, and return that array.

    If a variable has lent its array to a caller, this array is not changed, and the variable moves
    to another array.
    """
    key = tuple(variables)
    flat = homes.get(key)
    if flat is not None and all(
        v.room is view and not v.is_lent for v, view in zip(variables, flat.views, strict=True)
    ):
        return flat
    if flat is None or not all(view.flags.writeable for view in flat.views):
        flat = homes[key] = Flat([v.room.shape for v in variables], variables[0].room.dtype)
    for v, view in zip(variables, flat.views, strict=True):
        if v.room is not view:
            v.move_to(view)
    return flat


class FlatText:
    """The memory of a group of weights, and the text of its update.

    Parameters
    ----------
    group : Group
    bound : Bound
        The schedule of the group.
    homes : dict
        The flat arrays of the function's variables; those of this group are added.
    computed : set of int
        Slots that a line computes into planned memory.
    placed : set of int
        Slots whose memory is already fixed by another group.

    Attributes
    ----------
    places : dict of int to array
        The arrays of slots whose memory the group fixes, such as gradients.
    """

    def __init__(
        self,
        group: Group,
        bound: Bound,
        homes: Homes,
        computed: set[int],
        placed: set[int],
    ) -> None:
        self.group = group
        self._constants = bound.constants
        self.places: dict[int, np.ndarray] = {}
        self.copies: list[tuple[np.ndarray, int]] = []
        self.flats: list[np.ndarray] = []
        for index in range(len(group.parts[0].roles)):
            slots = [part.roles[index] for part in group.parts]
            if index in group.variables:
                flat = stored_together(homes, group.variables[index])
            else:
                flat = Flat([bound.facts[slot].spec.shape for slot in slots], group.dtype)
            for slot, view in zip(slots, flat.views, strict=True):
                is_free = slot not in self.places and slot not in placed
                can_be_placed = slot in computed and is_free
                if index in group.variables or can_be_placed:
                    self.places[slot] = view
                else:
                    self.copies.append((view, slot))
            self.flats.append(flat.whole)

    @property
    def size(self) -> int:
        """The number of elements that are updated, including the gaps between weights."""
        return len(self.flats[0])

    def copy(self, name_of: Callable[[int], str], names: Names) -> Iterator[str]:
        """Yield the text that copies arrays into the flat arrays; arguments as for `write`.

        Only arrays that cannot be computed directly in a flat array are copied, such as some
        gradients.
        """
        for view, slot in self.copies:
            room = names.given(f"flat_{name_of(slot)}", view)
            yield f"np.copyto({room}, {name_of(slot)})"

    def write(self, name_of: Callable[[int], str], names: Names) -> Iterator[str]:
        """Yield the text of the loop that updates the group, and register the names in it.

        Parameters
        ----------
        name_of : callable
            Returns the name of a slot.
        names : Names
        """
        words = self._role_words(name_of, names)
        fulls = self._fulls(name_of, names)
        calls, temporaries = self._calls(words, fulls, name_of, names)
        numbers = [self._constants[slot] for slot in fulls]
        blocks = names.given("blocks", self._blocks(len(temporaries), numbers))
        n = len(self.group.parts)
        yield f"# {n} weight{'s' if n > 1 else ''}, {self.size:,} numbers"
        arrays = [*words, *temporaries, *fulls.values()]
        yield f"for {', '.join(arrays)}{',' if len(arrays) == 1 else ''} in {blocks}:"
        for call in calls:
            yield f"    {call}"

    def _role_words(self, name_of: Callable[[int], str], names: Names) -> list[str]:
        """Return a name for each array that the update of a weight reads.

        The weight is p, its gradient is g, and a slot of the optimizer has its own name, such as m.
        """
        part = self.group.parts[0]
        for ref in (ref for refs in part.refs for ref in refs if ref.kind == "scalar"):
            name_of(ref.place)  # scalars get their names first
        scope = part.lines[0].step.apply.scope.name.removeprefix("update/")
        words = []
        for index in range(len(part.roles)):
            if index not in self.group.variables:
                word = "g"
            else:
                own = self.group.variables[index][0].name
                word = "p" if own == scope else own.rpartition("/")[2]
            words.append(names.free(word))
        return words

    def _fulls(self, name_of: Callable[[int], str], names: Names) -> dict[int, str]:
        """Return names of arrays, each filled with a scalar, by the scalar's slot.

        Only scalars are included that NumPy reads faster as a whole array.
        """
        part, size = self.group.parts[0], min(BLOCK, self.size)
        return {
            ref.place: names.free(f"all_{name_of(ref.place)}")
            for line, refs in zip(part.lines, part.refs, strict=True)
            for ref in refs
            if ref.kind == "scalar" and ref.place in self._constants
            if is_better_full(line.op.ufunc, size)
        }

    def _calls(
        self,
        words: Sequence[str],
        fulls: Mapping[int, str],
        name_of: Callable[[int], str],
        names: Names,
    ) -> tuple[list[str], list[str]]:
        """Return the NumPy calls that update one block of the flat arrays, and a list of names.

        The names are those of the temporary arrays for intermediate results.
        """
        part = self.group.parts[0]
        last = self._last_reads()
        held: dict[int, str] = {}  # the array of each local result
        free: list[str] = []
        temporaries: list[str] = []
        calls, copies = [], []
        numbers: Mapping[int, str]

        def operand(ref: Ref) -> str:
            if ref.kind == "role":
                return words[ref.place]
            if ref.kind == "local":
                return held[ref.place]
            return numbers[ref.place] if ref.place in numbers else name_of(ref.place)

        for place, (line, refs) in enumerate(zip(part.lines, part.refs, strict=True)):
            numbers = fulls if is_better_full(line.op.ufunc, min(BLOCK, self.size)) else {}
            operands = [operand(ref) for ref in refs]
            dying = [
                held[ref.place]
                for ref in dict.fromkeys(refs)
                if ref.kind == "local"
                and last[ref] == place
                and held[ref.place] in temporaries
                and ref.place not in part.targets
            ]
            role = part.targets.get(place)
            if role is not None and last.get(Ref("role", role), -1) <= place:
                out = words[role]
            elif dying:
                out = dying.pop(0)
            elif free:
                out = free.pop()
            else:
                out = names.free(f"t{len(temporaries)}")
                temporaries.append(out)
            if role is not None and out != words[role]:
                copies.append(f"np.copyto({words[role]}, {out})")
            held[place] = out
            free.extend(dying)
            if line.op.ufunc is not None:
                calls.append(call_of(line.op.ufunc, ", ".join(operands), out))
        return [*calls, *copies], temporaries

    def _last_reads(self) -> dict[Ref, int]:
        part = self.group.parts[0]
        return {ref: place for place, refs in enumerate(part.refs) for ref in refs}

    def _blocks(
        self, n_temporaries: int, numbers: Sequence[np.ndarray]
    ) -> list[tuple[np.ndarray, ...]]:
        """Return, for each block, a tuple of its slices of all arrays.

        They are slices of the flat arrays, of temporary arrays, and of arrays filled with a scalar.
        """
        shapes = [(min(BLOCK, self.size),)] * (n_temporaries + len(numbers))
        room = Flat(shapes, self.group.dtype).views
        for array, number in zip(room[n_temporaries:], numbers, strict=True):
            array[...] = number
        starts = range(0, self.size, BLOCK)
        return [
            (
                *(flat[start : start + BLOCK] for flat in self.flats),
                *(array[: self.size - start] for array in room),
            )
            for start in starts
        ]

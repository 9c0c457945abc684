"""How a group of weights lies in memory, and the loop that updates it block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.program.flat import Group, Ref, starts_of
from kerascope.backend.program.kernels import call_of
from kerascope.backend.program.literals import is_better_full
from kerascope.backend.program.memory import aligned
from kerascope.backend.program.names import Names

BLOCK = 1 << 15  # elements: some arrays of 128 KB fit into the cache of a core


class Flat:
    """Arrays of many shapes one after the other in one, each from a cache line on.

    Parameters
    ----------
    shapes : list of tuple of int
    dtype : np.dtype

    Attributes
    ----------
    whole : array, 1 axis
    views : list of array
        The single arrays.

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


# Where the variables of a function lie: those of one kind together.
Homes = dict[tuple[Variable, ...], Flat]


def settled(homes: Homes, variables: Sequence[Variable]) -> Flat:
    """Let these variables lie one after the other, if they do not, and return where.

    An array that somebody has borrowed stays as it is: the variables move into another one.
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
    """The memory of a group and the text of its update.

    Parameters
    ----------
    group : Group
    homes : dict
        Where the variables of the function lie; filled.
    computed : set of int
        Slots that a line computes into memory that can be chosen.
    shape_of : callable
        The shape of a slot.
    placed : set of int
        Slots that another group has placed.
    constants : dict of int to array

    Attributes
    ----------
    places : dict of int to array
        Slots that must lie at a certain place, such as the gradients.
    """

    def __init__(
        self,
        group: Group,
        homes: Homes,
        computed: set[int],
        shape_of: Callable[[int], tuple[int, ...]],
        placed: set[int],
        constants: Mapping[int, np.ndarray],
    ) -> None:
        self.group = group
        self._constants = constants
        self.places: dict[int, np.ndarray] = {}
        self.copies: list[tuple[np.ndarray, int]] = []
        self.flats: list[np.ndarray] = []
        for index in range(len(group.parts[0].roles)):
            slots = [part.roles[index] for part in group.parts]
            if index in group.variables:
                flat = settled(homes, group.variables[index])
            else:
                flat = Flat([shape_of(slot) for slot in slots], group.dtype)
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
        """How many numbers are updated, with the gaps between weights."""
        return len(self.flats[0])

    def copy(
        self, name_of: Callable[[int], str], names: Names, scope: dict[str, Any]
    ) -> Iterator[str]:
        """Yield the lines that bring here what lies elsewhere; see `write`."""
        for view, slot in self.copies:
            room = names.free(f"flat_{name_of(slot)}")
            scope[room] = view
            yield f"np.copyto({room}, {name_of(slot)})"

    def write(
        self, name_of: Callable[[int], str], names: Names, scope: dict[str, Any]
    ) -> Iterator[str]:
        """Yield the lines of the loop, and put what they name into the scope.

        Parameters
        ----------
        name_of : callable
            The name of a slot.
        names : Names
        scope : dict
        """
        words = self._role_words(name_of, names)
        fulls = self._fulls(name_of, names)
        calls, temporaries = self._calls(words, fulls, name_of, names)
        blocks = names.free("blocks")
        scope[blocks] = self._blocks(len(temporaries), [self._constants[slot] for slot in fulls])
        n = len(self.group.parts)
        yield f"# {n} weight{'s' if n > 1 else ''}, {self.size:,} numbers"
        arrays = [*words, *temporaries, *fulls.values()]
        yield f"for {', '.join(arrays)}{',' if len(arrays) == 1 else ''} in {blocks}:"
        for call in calls:
            yield f"    {call}"

    def _role_words(self, name_of: Callable[[int], str], names: Names) -> list[str]:
        """Name the roles: p for the weight, g for its gradient, slots by their own names."""
        part = self.group.parts[0]
        for ref in (ref for refs in part.refs for ref in refs if ref.kind == "scalar"):
            name_of(ref.place)  # these have their names first
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
        """Name the numbers of which there is a whole block, for it is faster."""
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
        """Return the calls for a block, and the names of the arrays that they need besides."""
        part = self.group.parts[0]
        last = self._last_reads()
        held: dict[int, str] = {}  # where each local lies
        free: list[str] = []
        temporaries: list[str] = []
        calls, copies = [], []
        for place, (line, refs) in enumerate(zip(part.lines, part.refs, strict=True)):
            numbers = fulls if is_better_full(line.op.ufunc, min(BLOCK, self.size)) else {}
            operands = [_operand(ref, words, held, numbers, name_of) for ref in refs]
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
        """Return for each block the parts of all arrays that belong to it."""
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


def _operand(
    ref: Ref,
    words: Sequence[str],
    held: Mapping[int, str],
    numbers: Mapping[int, str],
    name_of: Callable[[int], str],
) -> str:
    if ref.kind == "role":
        return words[ref.place]
    if ref.kind == "scalar" and ref.place in numbers:
        return numbers[ref.place]
    return held[ref.place] if ref.kind == "local" else name_of(ref.place)

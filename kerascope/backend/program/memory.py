"""The plan of memory: which array lies where, and what dies makes room for what comes.

Every array that a line computes gets a place in one of a few blocks. A block is free again when the
last line has read what lies in it, through views too. An elementwise op may write its result over
an input that nobody reads later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kerascope.backend.program.bound import Bound, Line, may_share
from kerascope.backend.program.kernels import Kind, Writing
from kerascope.backend.program.trial import Fact, stand_in

ALIGNMENT = 64  # bytes; NumPy's vector loops are fastest on whole cache lines


def aligned(n_bytes: int) -> np.ndarray:
    """Return that many bytes from the beginning of a cache line on.

    Examples
    --------
    >>> block = aligned(100)
    >>> block.nbytes, block.ctypes.data % ALIGNMENT
    (100, 0)
    """
    room = np.zeros(n_bytes + ALIGNMENT, np.uint8)
    skipped = -room.ctypes.data % ALIGNMENT
    return room[skipped : skipped + n_bytes]


def array_in(block: np.ndarray, fact: Fact) -> np.ndarray:
    """Return an array as a fact tells it at the beginning of a block."""
    spec = fact.spec
    return np.ndarray(spec.shape, spec.dtype, buffer=block.data, strides=fact.strides)


class Memory:
    """The arrays of a program.

    Parameters
    ----------
    bound : Bound
    writings : list of Writing
        One for each line.
    kept : iterable of int
        Slots that are read after the last line.
    placed : dict of int to array
        Slots whose place is given already.

    Attributes
    ----------
    arrays : dict of int to array
        Of the slots that lie at a fixed place: constants, what is computed into planned memory, and
        views of these.
    places : set of int
        Slots whose place was given.
    origin : dict of int to int
        Whose memory a computed slot has got: that of an earlier one.
    n_bytes : int
        In all blocks.
    """

    def __init__(
        self,
        bound: Bound,
        writings: Sequence[Writing],
        kept: Iterable[int],
        placed: dict[int, np.ndarray],
    ) -> None:
        self.bound = bound
        self.arrays: dict[int, np.ndarray] = {**bound.constants, **placed}
        for slot, _ in enumerate(bound.schedule.inputs):
            self.arrays.pop(slot, None)  # what is fed comes anew each time
        self.origin: dict[int, int] = {}
        self.n_bytes = 0
        self.places = set(placed)
        self._roots: dict[int, set[int]] = {}  # in whose blocks the array of a slot may lie
        self._blocks: dict[int, np.ndarray] = {}
        self._free: dict[int, list[tuple[np.ndarray, int]]] = {}  # by size
        self._find_roots(writings)
        dying = self._last_readers(kept)
        for position, (line, writing) in enumerate(zip(bound.lines, writings, strict=True)):
            self._place(line, writing, dying.get(position, []))

    def _find_roots(self, writings: Sequence[Writing]) -> None:
        for line, writing in zip(self.bound.lines, writings, strict=True):
            for slot in line.outputs:
                if writing.kind is Kind.CALL:
                    self._roots[slot] = {slot}
                elif writing.kind is Kind.VIEW:
                    self._roots[slot] = self._roots.get(line.inputs[0], set())
                else:
                    self._roots[slot] = self._shared(line, slot)

    def _shared(self, line: Line, slot: int) -> set[int]:
        """Return the blocks in which the result of a `perform` may lie."""
        shared = may_share(self.bound, line, slot)
        return set().union(*(self._roots.get(x, set()) for x in shared))

    def _last_readers(self, kept: Iterable[int]) -> dict[int, list[int]]:
        """Return for each line the blocks, by slot, that nobody reads after it."""
        end = len(self.bound.lines)
        last: dict[int, int] = {}
        for position, line in enumerate(self.bound.lines):
            guards = [slot for conjunction in line.guards for slot, _ in conjunction]
            for slot in (*line.op.numbers_read(line.inputs), *line.outputs, *guards):
                for root in self._roots.get(slot, ()):
                    last[root] = position
        for slot in kept:
            for root in self._roots.get(slot, ()):
                last[root] = end
        dying: dict[int, list[int]] = {}
        for root, position in last.items():
            if root not in self.places:
                dying.setdefault(position, []).append(root)
        return dying

    def _place(self, line: Line, writing: Writing, dying: list[int]) -> None:
        # A view that the run before has not made may be one that cannot be made: it waits.
        is_sure = writing.kind is Kind.VIEW and line.outputs[0] in self.bound.facts
        if is_sure and line.inputs[0] in self.arrays:
            inputs = [self.arrays.get(slot) for slot in line.inputs]
            self.arrays[line.outputs[0]] = self._view(line, inputs)
        if writing.kind is Kind.CALL:
            for slot in line.outputs:
                if slot not in self.places:
                    self._give(slot, line, writing, dying)
        for root in dying:
            if root in self._blocks:
                block = self._blocks[root]
                self._free.setdefault(len(block), []).append((block, root))

    def _view(self, line: Line, inputs: list[np.ndarray | None]) -> np.ndarray:
        """Return the view that the op makes; of its other inputs it reads the shapes alone."""
        arrays = [
            stand_in(self.bound.facts[slot].spec) if array is None else array
            for slot, array in zip(line.inputs, inputs, strict=True)
        ]
        view: np.ndarray = line.op.perform(*arrays)
        return view

    def _give(self, slot: int, line: Line, writing: Writing, dying: list[int]) -> None:
        fact = self.bound.facts[slot]
        if writing.can_overwrite:
            for x in dict.fromkeys(line.inputs):
                if x in dying and self._can_overwrite(x, fact, line):
                    dying.remove(x)
                    self._take(slot, self._blocks[x], fact, x)
                    return
        n_bytes = fact.spec.n_bytes
        size = min((n for n in self._free if n_bytes <= n <= 2 * n_bytes + 1024), default=None)
        if size is None:
            self.n_bytes += n_bytes
            self._take(slot, aligned(max(n_bytes, 1)), fact, None)
            return
        block, before = self._free[size].pop()
        if not self._free[size]:
            del self._free[size]
        self._take(slot, block, fact, before)

    def _can_overwrite(self, x: int, fact: Fact, line: Line) -> bool:
        """Tell whether a line may write over its input `x`, whose block dies with it."""
        own = self.bound.facts.get(x)
        if x not in self._blocks or own is None or self._roots.get(x) != {x}:
            return False
        if (own.spec, own.strides) != (fact.spec, fact.strides):
            return False
        others = (y for y in line.inputs if y != x)
        return all(x not in self._roots.get(y, ()) for y in others)

    def _take(self, slot: int, block: np.ndarray, fact: Fact, before: int | None) -> None:
        self._blocks[slot] = block
        self.arrays[slot] = array_in(block, fact)
        if before is not None:
            self.origin[slot] = before

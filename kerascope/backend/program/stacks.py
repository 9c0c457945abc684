"""Stacks: equal computations of many layers, combined into one NumPy call.

A *stack* is a set of lines with the same op on arrays of the same shapes that do not need each
other's results. If their arrays are at equal distances in memory, one NumPy call on arrays with an
additional axis replaces the single calls. `np.matmul` multiplies a stack of matrices by the same
BLAS calls as `np.dot` does one by one, and elementwise exact ops do not depend on the position of
an element, so every bit stays the same. On small arrays a call costs more than its arithmetic: the
gradients of two hundred equal layers take a third of the time.

This module finds the stacks; `memory.py` places their arrays at equal distances.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kerascope.backend.arrays import Spec
from kerascope.backend.ops.broadcasting import Stretch, Sum, is_sum_of_rows
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.program.bound import Bound, Fact, Line
from kerascope.backend.program.emit import Kind, Writing, writing_of
from kerascope.backend.program.flat import EXACT, Group, starts_of
from kerascope.backend.schedule import slots_of

# --- which lines are worth combining: how many, how small, how regular ----------------------------


FEWEST = 8  # lines
LARGEST = 1 << 14  # elements of an array; beyond, arithmetic dominates


def longest_run(gaps: Iterable[Any]) -> tuple[int, int]:
    """Return start and length of the longest run of items at equal distances.

    `gaps` contains the distance of each item from the item before, beginning with the second item;
    None ends a run.

    Examples
    --------
    >>> longest_run([5, 2, 2, 2, None, None, None, None])  # None: no gap
    (1, 4)
    >>> longest_run([])
    (0, 0)
    """
    best, start = (0, 0), 0
    for gap, equal in itertools.groupby(gaps):
        count = len(list(equal))
        if gap is not None and count + 1 > best[1]:
            best = start, count + 1
        start += count
    return best


# --- biases of many equal layers, repeated in advance to the shape they are added to --------------
#
# To add a row to each row of a small matrix takes NumPy three times as long as to add a matrix. So
# if many layers do it, one copy repeats all their biases before the first layer.


def stretch_rows(bound: Bound, groups: Sequence[Group]) -> None:
    """Repeat the biases of many equal layers as rows of matrices, by one call.

    This call is at the beginning of the program. The lines that add the biases then read the
    matrices.

    Parameters
    ----------
    bound : Bound
    groups : list of Group
        Weights that are stored one after the other. Only these can be copied by one call.
    """
    starts = {v: (at, start) for at, v, start in _starts(groups)}
    variables = dict(bound.schedule.variables)
    alike: dict[Any, dict[int, list[tuple[Line, int]]]] = {}  # by shapes, then by start
    for line in bound.lines:
        for position, slot in enumerate(line.inputs):
            variable = variables.get(slot)
            if variable in starts and _adds_rows(bound, line, slot):
                room, start = starts[variable]
                key = room, bound.spec(slot), bound.spec(line.outputs[0])
                alike.setdefault(key, {}).setdefault(start, []).append((line, position))
    copies = []
    for readers_of in alike.values():
        begins = list(readers_of)
        first, count = longest_run([after - one for one, after in itertools.pairwise(begins)])
        if count >= FEWEST:
            copies += [_stretched(bound, readers_of[x]) for x in begins[first : first + count]]
    bound.lines = [*copies, *bound.lines]


def _starts(groups: Sequence[Group]) -> Iterator[tuple[Any, Any, int]]:
    """Yield (key of the flat array, variable, offset) for each variable of the groups.

    The key is the pair (number of the group, role). The offset is the number of elements before the
    variable in the flat array.
    """
    for number, group in enumerate(groups):
        for role, several in group.variables.items():
            *starts, _ = starts_of([v.room.shape for v in several], group.dtype)
            for v, start in zip(several, starts, strict=True):
                yield (number, role), v, start


def _adds_rows(bound: Bound, line: Line, slot: int) -> bool:
    """Return whether a line combines a small matrix with a row, the array in `slot`, row by row."""
    row, whole = bound.spec(slot), bound.spec(line.outputs[0])
    if row is None or whole is None or line.op.ufunc not in EXACT or line.guards:
        return False
    is_row = len(whole.shape) == 2 and row.shape == whole.shape[1:] and row.dtype == whole.dtype
    return is_row and whole.shape[0] > 1 and whole.size <= LARGEST


def _stretched(bound: Bound, readers: Sequence[tuple[Line, int]]) -> Line:
    """Return a new line that repeats a bias row; the row's readers now read the repeated rows.

    The new line belongs to the step of the first reader, so explanations have no row for it.
    """
    line, position = readers[0]
    whole = bound.facts[line.outputs[0]].spec
    slot = bound.new_slot()
    copy = Line(line.step, [line.inputs[position]], ())
    copy.op, copy.outputs = Stretch(whole.shape[0]), (slot,)
    size = whole.dtype.itemsize
    bound.facts[slot] = Fact(whole, (whole.shape[1] * size, size))
    bound.makers[slot] = copy
    for reader, place in readers:
        reader.inputs[place] = slot
    return copy


# --- positions of lines: where they are, where they could be, and new orders ----------------------


def positions_of_readers(bound: Bound) -> dict[int, int]:
    """Return, for each slot, the position of the first line that reads its memory.

    Reading a condition counts, too; making a view does not.
    """
    found: dict[int, int] = {}
    for position, line in enumerate(bound.lines):
        read = [] if _is_plain_view(line) else list(line.inputs)
        read.extend(slots_of([line.guards]))
        for slot in read:
            found.setdefault(origin(bound, slot), position)
    return found


def ready_at(bound: Bound, line: Line, made_at: Mapping[int, int]) -> int:
    """Return the position of the line after which all inputs of `line` exist; -1 for the start.

    A view of an input of the function exists after the line that makes the view. Any other view
    exists as soon as its origin is computed.
    """
    sources = ((slot, origin(bound, slot)) for slot in line.inputs)
    return max((made_at.get(x, made_at.get(slot, -1)) for slot, x in sources), default=-1)


def origin(bound: Bound, slot: int) -> int:
    """Return the slot whose memory a slot uses: itself, or the origin of a view."""
    while True:
        maker = bound.makers.get(slot)
        if maker is None or not _is_plain_view(maker):
            return slot
        slot = maker.inputs[0]


def _is_plain_view(line: Line) -> bool:
    return line.op.is_view and len(line.inputs) == 1 and not line.guards


def reordered(bound: Bound, made_at: Mapping[int, int], moved: Mapping[int, int]) -> list[Line]:
    """Return the lines in a new order: those in `moved` at their new positions, views early.

    Each line that makes a view comes as early as possible.

    Parameters
    ----------
    bound : Bound
    made_at : dict of int to int
        For each slot, the position of the line that computes it.
    moved : dict of int to int
        The new position of each line that moves.
    """

    def place(position: int) -> tuple[int, int, int]:
        line = bound.lines[position]
        if _is_plain_view(line):
            return made_at.get(origin(bound, line.inputs[0]), position), 1, position
        return moved.get(position, position), 0, position

    return [bound.lines[position] for position in sorted(range(len(bound.lines)), key=place)]


# --- stacks ---------------------------------------------------------------------------------------


def find_stacks(bound: Bound) -> list[list[Line]]:
    """Return the stacks among the lines of `bound`, and move the lines of each stack together."""
    alike: dict[Any, list[int]] = {}
    for position, line in enumerate(bound.lines):
        likeness = _likeness(bound, line)
        if likeness is not None:
            alike.setdefault(likeness, []).append(position)
    finding = _Finding(bound)
    for positions in alike.values():
        if len(positions) >= FEWEST:
            finding.look_at(positions)
    found = [[bound.lines[position] for position in stack] for stack in sorted(finding.stacks)]
    if found:
        bound.lines = reordered(bound, finding.made_at, finding.moved)
    return found


class _Finding:
    """Finds stacks, and a position to which the lines of each stack can move.

    This is the position of the first line, if the inputs of all lines are available there, or that
    of the last line, if no result is read before it.

    Attributes
    ----------
    stacks : list of list of int
        The positions of the lines in each stack.
    moved : dict of int to int
        For each moved line, the position of the line it is moved to.
    made_at, read_at : dict of int to int
        For each slot, the position after which it is available, and that of its first reader.
    """

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.stacks: list[list[int]] = []
        self.moved: dict[int, int] = {}
        self.made_at = {slot: at for at, line in enumerate(bound.lines) for slot in line.outputs}
        self.read_at = positions_of_readers(bound)

    def look_at(self, positions: Sequence[int]) -> None:
        """Find the stacks among lines of the same op and shapes, given by their positions."""
        for stack in self._ready_together(positions):
            self._move(stack, stack[0])
        waiting = [position for position in positions if position not in self.moved]
        stack = [position for position in waiting if not self._is_read(position, waiting[-1])]
        if len(stack) >= FEWEST:
            self._move(stack, stack[-1])

    def _ready_together(self, positions: Iterable[int]) -> Iterator[list[int]]:
        """Yield stacks of lines whose inputs are available before the first line of the stack."""
        stack: list[int] = []
        for position in positions:
            line = self.bound.lines[position]
            if stack and ready_at(self.bound, line, self.made_at) >= stack[0]:
                if len(stack) >= FEWEST:
                    yield stack
                stack = []
            stack.append(position)
        if len(stack) >= FEWEST:
            yield stack

    def _is_read(self, position: int, until: int) -> bool:
        slot = self.bound.lines[position].outputs[0]
        return slot in self.read_at and self.read_at[slot] <= until

    def _move(self, stack: list[int], place: int) -> None:
        self.stacks.append(stack)
        for position in stack:
            self.moved[position] = place
            # Later stacks must consider the new position of this line.
            line = self.bound.lines[position]
            self.made_at[line.outputs[0]] = place
            for slot in (origin(self.bound, x) for x in line.inputs):
                self.read_at[slot] = min(self.read_at[slot], place)


def _likeness(bound: Bound, line: Line) -> Any:
    """Return a key that is equal for lines of one stack; None if this line cannot be in a stack."""
    specs = [bound.spec(slot) for slot in (*line.inputs, *line.outputs)]
    known = [spec for spec in specs if spec is not None]
    if line.guards or len(line.outputs) != 1 or len(known) < len(specs):
        return None
    sizes = [spec.size for spec in known]
    # Scalars gain little, and with gaps between them np.negative of NumPy 2.4 reads wrong ones.
    if max(sizes) > LARGEST or not min(sizes) or sizes[-1] == 1:
        return None
    if not _can_be_stacked(line, known):
        return None
    return type(line.op), repr(line.op), tuple(known)


def _can_be_stacked(line: Line, specs: Sequence[Spec]) -> bool:
    """Return whether a call on stacked arrays gives the same bits as one call for each line."""
    *inputs, output = specs
    if isinstance(line.op, Stretch):
        return True
    if line.op.ufunc in EXACT or line.op.is_exact:
        return output.shape != () and all(spec.shape in ((), output.shape) for spec in inputs)
    # With an axis of size 1, only one of the two calls would use BLAS's routine for vectors.
    if isinstance(line.op, Dot):
        return all(len(spec.shape) == 2 and min(spec.shape) > 1 for spec in specs)
    if isinstance(line.op, Sum) and not line.op.keepdims:
        return is_sum_of_rows(inputs[0], line.op.axes) and min(inputs[0].shape) > 1
    return False


def writing_of_stack(bound: Bound, line: Line, count: int) -> Writing | None:
    """Return how one call for `count` lines like `line` is written; None if no call can do it."""
    plain = writing_of(bound, line)
    if plain.kind is not Kind.CALL:
        return None
    if plain.kernel is None:
        return plain._replace(text=plain.text.replace("np.dot(", "np.matmul(", 1))
    specs = [
        Spec((count, *spec.shape), spec.dtype)
        for spec in (bound.facts[slot].spec for slot in (*line.inputs, *line.outputs))
    ]
    kernel = line.op.kernel(specs[:-1], specs[-1:])
    return plain._replace(kernel=kernel) if callable(kernel) else None

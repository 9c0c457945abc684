"""Equal lines at once: what a net does in many equal layers, done in all of them by one call.

Lines that do the same on arrays of the same shapes, and of which none needs another's result, are a
*stack*. Where their arrays lie at equal distances, one NumPy call on arrays with one more axis does
what the lines do one by one: `np.matmul` multiplies a stack of matrices by the same calls of the
BLAS as `np.dot` multiplies each, and where every element is rounded exactly it does not matter
beside which others it lies. So no bit changes. On small arrays a call costs more than its
arithmetic: the gradients of two hundred equal layers take a third of the time.

Here the stacks are found; `stack_places.py` lets their arrays lie at equal distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kerascope.backend.graph import Spec
from kerascope.backend.ops.broadcasting import Stretch, Sum, is_sum_of_rows
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.flat import EXACT
from kerascope.backend.program.kernels import Kind, Writing, writing_of
from kerascope.backend.program.order import (
    origin,
    positions_of_makers,
    positions_of_readers,
    ready_at,
    reordered,
)
from kerascope.backend.program.runs import FEWEST, LARGEST

RULE = "stack_equal"


def find_stacks(bound: Bound) -> list[list[Line]]:
    """Return the stacks among the lines, each brought together."""
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
    """Finds stacks, and where their lines can stand together.

    That is where the first line stands, if the inputs of all are there by then; or where the last
    one does, if nothing reads their results until then.

    Attributes
    ----------
    stacks : list of list of int
        Positions of lines.
    moved : dict of int to int
        From the position of a line to that of the line beside which it shall stand.
    made_at, read_at : dict of int to int
        After which position a slot is there, and at which it is read first.
    """

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.stacks: list[list[int]] = []
        self.moved: dict[int, int] = {}
        self.made_at = positions_of_makers(bound)
        self.read_at = positions_of_readers(bound)

    def look_at(self, positions: Sequence[int]) -> None:
        """Find the stacks among lines that are alike."""
        for stack in self._ready_together(positions):
            self._move(stack, stack[0])
        waiting = [position for position in positions if position not in self.moved]
        stack = [position for position in waiting if not self._is_read(position, waiting[-1])]
        if len(stack) >= FEWEST:
            self._move(stack, stack[-1])

    def _ready_together(self, positions: Iterable[int]) -> Iterator[list[int]]:
        """Yield stacks of lines whose inputs are there before the first one."""
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
            # Lines that are looked at later heed where this one stands now.
            line = self.bound.lines[position]
            self.made_at[line.outputs[0]] = place
            for slot in (origin(self.bound, x) for x in line.inputs):
                self.read_at[slot] = min(self.read_at[slot], place)


def _likeness(bound: Bound, line: Line) -> Any:
    """Return what two lines must have in common to be computed at once; None if nothing will do."""
    specs = [bound.spec(slot) for slot in (*line.inputs, *line.outputs)]
    known = [spec for spec in specs if spec is not None]
    if line.guards or len(line.outputs) != 1 or len(known) < len(specs):
        return None
    sizes = [spec.size for spec in known]
    # Single numbers gain little; and of some that lie apart, np.negative of NumPy 2.4 reads others.
    if max(sizes) > LARGEST or not min(sizes) or sizes[-1] == 1:
        return None
    if not _can_be_stacked(line, known):
        return None
    return type(line.op), repr(line.op), tuple(known)


def _can_be_stacked(line: Line, specs: Sequence[Spec]) -> bool:
    """Tell whether one call on stacked arrays gives the same bits; `specs` of inputs and output."""
    *inputs, output = specs
    if isinstance(line.op, Stretch):
        return True
    if line.op.ufunc in EXACT or line.op.is_exact:
        return output.shape != () and all(spec.shape in ((), output.shape) for spec in inputs)
    # With an axis of size 1 the BLAS would be called for vectors by one of the two, not the other.
    if isinstance(line.op, Dot):
        return all(len(spec.shape) == 2 and min(spec.shape) > 1 for spec in specs)
    if isinstance(line.op, Sum) and not line.op.keepdims:
        return is_sum_of_rows(inputs[0], line.op.axes) and min(inputs[0].shape) > 1
    return False


def writing_of_stack(bound: Bound, line: Line, count: int) -> Writing | None:
    """Return how so many lines like this one are written as one; None if they cannot be."""
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

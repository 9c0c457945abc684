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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kerascope.backend.graph import Spec
from kerascope.backend.ops.broadcasting import Stretch, Sum, is_sum_of_rows
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.flat import EXACT
from kerascope.backend.program.kernels import Kind, Writing, writing_of
from kerascope.backend.program.runs import FEWEST, LARGEST

RULE = "stack_equal"


def find_stacks(bound: Bound) -> list[list[Line]]:
    """Return the stacks among the lines, each brought together to where its first line stands."""
    made_at = {slot: at for at, line in enumerate(bound.lines) for slot in line.outputs}
    alike: dict[Any, list[int]] = {}
    for position, line in enumerate(bound.lines):
        likeness = _likeness(bound, line)
        if likeness is not None:
            alike.setdefault(likeness, []).append(position)
    stacks = []
    # In the order of the first lines, so that what comes after a stack knows where that is made.
    for positions in alike.values():
        for stack in _independent(bound, positions, made_at) if len(positions) >= FEWEST else ():
            stacks.append(stack)
            made_at.update({bound.lines[at].outputs[0]: stack[0] for at in stack})
    stacks.sort()
    found = [[bound.lines[position] for position in stack] for stack in stacks]
    if found:
        firsts = {position: (stack[0], 0) for stack in stacks for position in stack}
        bound.lines = moved(bound, made_at, firsts)
    return found


def _likeness(bound: Bound, line: Line) -> Any:
    """Return what two lines must have in common to be computed at once; None if nothing will do."""
    specs = [bound.spec(slot) for slot in (*line.inputs, *line.outputs)]
    known = [spec for spec in specs if spec is not None]
    if line.guards or len(line.outputs) != 1 or len(known) < len(specs):
        return None
    if max(map(_size, known)) > LARGEST or not _can_be_stacked(line, known):
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


def _size(spec: Spec) -> int:
    size = 1
    for length in spec.shape:
        size *= length
    return size


def _independent(
    bound: Bound, positions: Iterable[int], made_at: Mapping[int, int]
) -> Iterator[list[int]]:
    """Yield runs of equal lines whose inputs are all there before the first of the run."""
    stack: list[int] = []
    for position in positions:
        if stack and ready_at(bound, bound.lines[position], made_at) >= stack[0]:
            if len(stack) >= FEWEST:
                yield stack
            stack = []
        stack.append(position)
    if len(stack) >= FEWEST:
        yield stack


def ready_at(bound: Bound, line: Line, made_at: Mapping[int, int]) -> int:
    """Return the position after which the inputs of a line are there; -1 if before all lines.

    A view of what is fed is there where its line stands, any other where its array is made.
    """
    sources = ((slot, origin(bound, slot)) for slot in line.inputs)
    return max((made_at.get(x, made_at.get(slot, -1)) for slot, x in sources), default=-1)


def origin(bound: Bound, slot: int) -> int:
    """Return the slot whose memory a slot shows: itself, or that of which it is a view."""
    while True:
        maker = bound.makers.get(slot)
        if maker is None or not _is_plain_view(maker):
            return slot
        slot = maker.inputs[0]


def _is_plain_view(line: Line) -> bool:
    return line.op.is_view and len(line.inputs) == 1 and not line.guards


def moved(
    bound: Bound, made_at: Mapping[int, int], places: Mapping[int, tuple[int, int]]
) -> list[Line]:
    """Return the lines in a new order, in which some are earlier, and views where they can be.

    Parameters
    ----------
    bound : Bound
    made_at : dict of int to int
        The position of the line that makes a slot.
    places : dict of int to (int, int)
        From a line's position to its new one: (p, 0) is that of the line at p, (p, 2) after it.
    """

    def place(position: int) -> tuple[int, int, int]:
        line = bound.lines[position]
        if _is_plain_view(line):
            return made_at.get(origin(bound, line.inputs[0]), position), 1, position
        return *places.get(position, (position, 0)), position

    return [bound.lines[position] for position in sorted(range(len(bound.lines)), key=place)]


def writing_of_stack(bound: Bound, line: Line, count: int) -> Writing | None:
    """Return how so many lines like this one are written as one; None if they cannot be."""
    plain = writing_of(bound, line)
    if plain.kind is not Kind.CALL:
        return None
    if plain.kernel is None:
        return plain._replace(text=plain.text.replace("np.dot(", "np.matmul(", 1))
    inputs, outputs = (
        [_stacked(bound, slot, count) for slot in slots] for slots in (line.inputs, line.outputs)
    )
    kernel = line.op.kernel(inputs, outputs)
    return plain._replace(kernel=kernel) if callable(kernel) else None


def _stacked(bound: Bound, slot: int, count: int) -> Spec:
    spec = bound.facts[slot].spec
    return Spec((count, *spec.shape), spec.dtype)

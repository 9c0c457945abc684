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
from kerascope.backend.program.order import positions_of_makers, ready_at, reordered
from kerascope.backend.program.runs import FEWEST, LARGEST

RULE = "stack_equal"


def find_stacks(bound: Bound) -> list[list[Line]]:
    """Return the stacks among the lines, each brought together to where its first line stands."""
    alike: dict[Any, list[int]] = {}
    for position, line in enumerate(bound.lines):
        likeness = _likeness(bound, line)
        if likeness is not None:
            alike.setdefault(likeness, []).append(position)
    made_at = positions_of_makers(bound)
    stacks = []
    for positions in alike.values():
        for stack in _ready_together(bound, positions, made_at) if len(positions) >= FEWEST else ():
            stacks.append(stack)
            # What needs the results of the stack, and is looked at later, may follow at once.
            made_at.update({bound.lines[at].outputs[0]: stack[0] for at in stack})
    stacks.sort()
    found = [[bound.lines[position] for position in stack] for stack in stacks]
    if found:
        earlier = {position: (stack[0], 0) for stack in stacks for position in stack}
        bound.lines = reordered(bound, made_at, earlier)
    return found


def _likeness(bound: Bound, line: Line) -> Any:
    """Return what two lines must have in common to be computed at once; None if nothing will do."""
    specs = [bound.spec(slot) for slot in (*line.inputs, *line.outputs)]
    known = [spec for spec in specs if spec is not None]
    if line.guards or len(line.outputs) != 1 or len(known) < len(specs):
        return None
    sizes = [spec.size for spec in known]
    if max(sizes) > LARGEST or not min(sizes) or not _can_be_stacked(line, known):
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


def _ready_together(
    bound: Bound, positions: Iterable[int], made_at: Mapping[int, int]
) -> Iterator[list[int]]:
    """Yield stacks of equal lines: the inputs of all are there before the first."""
    stack: list[int] = []
    for position in positions:
        if stack and ready_at(bound, bound.lines[position], made_at) >= stack[0]:
            if len(stack) >= FEWEST:
                yield stack
            stack = []
        stack.append(position)
    if len(stack) >= FEWEST:
        yield stack


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

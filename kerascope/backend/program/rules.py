"""Rewrite rules that use known shapes to remove ops; results stay the same bit for bit.

A rule gets one line of a program. If the output of the line is a constant or is already in another
slot, the rule records this and returns its own name, and the line is removed. Otherwise the rule
returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from kerascope.backend.ops.broadcasting import BroadcastLike, Cast, Sum, SumTo
from kerascope.backend.ops.comparison import Equal, GreaterEqual, LessEqual, LogicalAnd
from kerascope.backend.ops.control import Switch
from kerascope.backend.ops.elementwise import (
    Add,
    Clip,
    Divide,
    Identity,
    Multiply,
    Negative,
    StopGradient,
    Subtract,
)
from kerascope.backend.ops.nn import Relu, ReluSlope
from kerascope.backend.ops.reduction import Mean
from kerascope.backend.ops.shaping import Reshape, ReshapeLike, Transpose
from kerascope.backend.program.bound import Bound, Line, Rule, dummy_array
from kerascope.backend.program.custom_ops import is_builtin, is_pure

# Larger constants are computed in each call instead of stored. Ops on an array of equal numbers
# need only one of them.
MOST_ELEMENTS = 1 << 20


def fold_constants(bound: Bound, line: Line) -> str | None:
    """Remove a line that depends only on constants or shapes: its result becomes a constant."""
    read = [] if line.op.needs_only_shapes else line.op.numbers_read(line.inputs)
    are_known = all(slot in bound.constants for slot in read)
    if not are_known or not is_pure(line.op) or any(s not in bound.facts for s in line.inputs):
        return None
    facts = [bound.facts.get(slot) for slot in line.outputs]
    if any(fact is None or np.prod(fact.spec.shape) > MOST_ELEMENTS for fact in facts):
        return None
    arrays = [_placeholder(bound, slot) for slot in line.inputs]
    with np.errstate(all="ignore"):
        result = line.op.perform(*arrays)
    bound.fix(line, [result] if line.op.n_outputs == 1 else result)
    return "constant"


def _placeholder(bound: Bound, slot: int) -> np.ndarray:
    if slot in bound.constants:
        return bound.constants[slot]
    return dummy_array(bound.facts[slot].spec)


def remove_identities(bound: Bound, line: Line) -> str | None:
    """Remove a line that returns its first input unchanged."""
    if not _is_identity(bound, line):
        return None
    bound.replace(line, line.inputs[0])
    return "identity"


def _is_identity(bound: Bound, line: Line) -> bool:
    op = line.op
    if isinstance(op, (Identity, StopGradient)):
        return True
    if not line.inputs:
        return False
    before, after = bound.spec(line.inputs[0]), bound.spec(line.outputs[0])
    if before is None or before != after:
        return False
    if isinstance(op, BroadcastLike):
        return op.axes is None or not op.axes
    if isinstance(op, Transpose):
        return op.pattern == tuple(range(len(before.shape)))
    return isinstance(op, (SumTo, Cast, Reshape, ReshapeLike))


def multiply_by_one(bound: Bound, line: Line) -> str | None:
    """Remove a line that multiplies by ones or divides by ones."""
    if not isinstance(line.op, (Multiply, Divide)):
        return None
    wanted = bound.spec(line.outputs[0])
    for position in (1, 0) if isinstance(line.op, Multiply) else (1,):
        other = line.inputs[1 - position]
        if wanted is not None and bound.spec(other) == wanted and _is_rounded(bound, other):
            number = uniform(bound, line.inputs[position])
            if number is not None and number == 1:
                bound.replace(line, other)
                return "times one"
    return None


def _is_rounded(bound: Bound, slot: int) -> bool:
    """Return whether a slot cannot contain subnormal numbers.

    If it can, a product with 1 cannot be removed, because the product replaces these numbers by 0.
    """
    line = bound.makers.get(slot)
    while line is not None and isinstance(line.op, Negative):
        line = bound.makers.get(line.inputs[0])
    if line is None:
        return False
    if isinstance(line.op, Sum):  # the sum of a single number is not rounded
        before, after = bound.spec(line.inputs[0]), bound.spec(line.outputs[0])
        return before is not None and after is not None and before.size > after.size
    return isinstance(line.op, (Mean, Add, Subtract, Multiply, Divide))


def choose_branch(bound: Bound, line: Line) -> str | None:
    """Remove the line of a switch whose condition is known: one of its branches is the result."""
    truth = bound.truth(line.inputs[0]) if isinstance(line.op, Switch) else None
    if truth is None:
        return None
    bound.replace(line, line.inputs[1 if truth else 2])
    return "branch known"


def undo_transposes(bound: Bound, line: Line) -> str | None:
    """Remove a line that transposes an array back, after another line has transposed it."""
    if not isinstance(line.op, Transpose):
        return None
    first = bound.makers.get(line.inputs[0])
    if first is None or not isinstance(first.op, Transpose):
        return None
    pattern = [first.op.pattern[axis] for axis in line.op.pattern]
    if pattern != sorted(pattern):
        return None
    bound.replace(line, first.inputs[0])
    return "transposed twice"


class MergeEqual:
    """A rule that computes equal lines only once. It has state, so each program needs its own."""

    def __init__(self) -> None:
        self._seen: dict[tuple, Line] = {}

    def __call__(self, bound: Bound, line: Line) -> str | None:
        """Replace a line by an earlier one with the same op on the same inputs."""
        if not is_pure(line.op) or line.op.n_outputs != 1 or line.op.lazy:
            return None
        if not is_builtin(line.op) and len(vars(line.op)) != len(line.op.parameters):
            return None  # attributes that are not parameters may differ
        try:
            # The repr distinguishes 0.0 from -0.0, and 1 from True.
            earlier = self._seen.setdefault((line.op, repr(line.op), *line.inputs), line)
        except TypeError:  # an op with a parameter that cannot be hashed
            return None
        if earlier is line or (earlier.guards and earlier.guards != line.guards):
            return None
        bound.replace(line, earlier.outputs[0])
        return "computed before"


def shrink_uniform(bound: Bound, line: Line) -> str | None:
    """Change a line: replace an operand whose elements are all equal by a single number."""
    wanted = bound.spec(line.outputs[0])
    if line.op.ufunc is None or wanted is None or len(line.inputs) != 2:
        return None
    for position in (0, 1):
        slot, other = line.inputs[position], line.inputs[1 - position]
        spec = bound.spec(other)
        if spec is None or spec.shape != wanted.shape or not bound.facts[slot].spec.shape:
            continue
        number = uniform(bound, slot)
        if number is not None:
            line.inputs[position] = bound.new_constant(number)
    return None


def subtract_negative(bound: Bound, line: Line) -> str | None:
    """Change a line that computes -x + y: it then computes y - x, which is the same number.

    The sign of a NaN may differ, which no op reads.
    """
    if not isinstance(line.op, Add):
        return None
    for position in (0, 1):
        negative = bound.makers.get(line.inputs[position])
        if negative is not None and isinstance(negative.op, Negative):
            line.op = Subtract()
            line.inputs = [line.inputs[1 - position], negative.inputs[0]]
            return None
    return None


def compare_with_clipped(bound: Bound, line: Line) -> str | None:
    """Change a line `low <= x <= high` to `x == clip(x)` if the clipped array exists already.

    The gradient of `clip` contains such a comparison.
    """
    if not isinstance(line.op, LogicalAnd):
        return None
    above, below = (bound.makers.get(slot) for slot in line.inputs)
    if above is None or below is None or above.inputs[0] != below.inputs[0]:
        return None
    if not isinstance(above.op, GreaterEqual) or not isinstance(below.op, LessEqual):
        return None
    bounds = [bound.constants.get(one.inputs[1]) for one in (above, below)]
    x = above.inputs[0]
    spec = bound.spec(x)
    if spec is None:
        return None
    for clipped in bound.lines:
        if isinstance(clipped.op, Clip) and clipped.inputs == [x] and not clipped.guards:
            number = spec.dtype.type
            limits = [number(clipped.op.low), number(clipped.op.high)]
            if all(map(_is_number, bounds, limits)):
                line.op, line.inputs = Equal(), [x, clipped.outputs[0]]
                return None
    return None


def _is_number(constant: np.ndarray | None, number: np.generic) -> bool:
    """Return whether a constant has one element, equal to `number` in value and dtype."""
    if constant is None or constant.size != 1 or constant.dtype != number.dtype:
        return False
    return bool((constant == number).all())


class AskOutputOfRelu:
    """A rule that computes the slope of relu from relu's output instead of its input.

    The output is needed later anyway, so the memory of the input is free earlier. No line is
    removed. The rule has state, so each program needs its own.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple, int] = {}

    def __call__(self, bound: Bound, line: Line) -> str | None:
        """Record the output of a `Relu`; let a `ReluSlope` of the same input read this output."""
        op = line.op
        if not isinstance(op, (Relu, ReluSlope)):
            return None
        x = line.inputs[0]
        key = (x, op.alpha, op.max_value, op.threshold)
        if isinstance(op, Relu):
            if not line.guards:
                self._seen[key] = line.outputs[0]
            return None
        y, spec = self._seen.get(key), bound.spec(x)
        if y is None or spec is None or bound.spec(y) != spec:
            return None
        if op.is_same_at_output(spec.dtype):
            line.inputs = [y]
        return None


def uniform(bound: Bound, slot: int) -> np.ndarray | None:
    """Return the number that fills a constant array, or None if its elements differ."""
    array = bound.constants.get(slot)
    if array is None or array.size == 0:
        return None
    flat = np.ascontiguousarray(array).reshape(-1)
    first, same_bits = flat[:1], flat.view(np.uint8).reshape(array.size, -1)
    return first.reshape(()) if (same_bits == same_bits[0]).all() else None


# By name, in the order in which they are tried.
RULES: dict[str, Callable[[], Rule]] = {
    "choose_branch": lambda: choose_branch,
    "remove_identities": lambda: remove_identities,
    "fold_constants": lambda: fold_constants,
    "multiply_by_one": lambda: multiply_by_one,
    "undo_transposes": lambda: undo_transposes,
    "merge_equal": MergeEqual,
    "subtract_negative": lambda: subtract_negative,
    "compare_with_clipped": lambda: compare_with_clipped,
    "ask_output_of_relu": AskOutputOfRelu,
    "shrink_uniform": lambda: shrink_uniform,
}
# The rule of `stacks.py`; it works on several lines.
STACK_EQUAL = "stack_equal"
RULE_NAMES = (*RULES, STACK_EQUAL)


def rules_named(names: Iterable[str] | None = None) -> list[Rule]:
    """Return the rewrite rules with these names, made anew for one program; None means all rules.

    Examples
    --------
    >>> [rule.__name__ for rule in rules_named(["fold_constants"])]
    ['fold_constants']
    """
    wanted = RULES if names is None else set(names)
    return [make() for name, make in RULES.items() if name in wanted]

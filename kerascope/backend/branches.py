"""Sums of gradients for graphs with lazy switches, which compute only one of two branches.

A tensor that several ops read gets the sum of the gradients that they send back. In most graphs
`Sums` only adds. But a lazy switch (`Op.lazy`) computes only the branch that its condition chooses,
and so only the gradient of that branch. Inside a branch the sweep assumes that the branch is
chosen. Where a gradient leaves the branch, it becomes an input of a new lazy switch on the same
condition. The other input is zeros, or the gradient of the other branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from kerascope.backend.graph import Apply, Tensor
from kerascope.backend.ops.broadcasting import zeros_like
from kerascope.backend.ops.control import Switch
from kerascope.backend.ops.elementwise import add

# The branches that contain a gradient, the outermost first, each as (condition, the value that
# chooses it). The gradient holds if all of them are chosen, and is 0 otherwise.
Branches = tuple[tuple[Tensor, bool], ...]


class Sums:
    """Adds up the gradients of a sweep, and stores which branches of switches contain each of them.

    Parameters
    ----------
    grads : dict of Tensor to Tensor
        d loss / d x of each tensor x that the sweep has reached; filled in place.
    """

    def __init__(self, grads: dict[Tensor, Tensor]) -> None:
        self.grads = grads
        self._inside: dict[Tensor, Branches] = {}
        self._here: Branches = ()

    def of_outputs(self, apply: Apply) -> list[Tensor]:
        """Return d loss / d output for each output of an op; zeros where no gradient has arrived.

        Call this for each op before `add`.
        """
        grads, inside = self.grads, self._inside
        here = self._here = shared([inside.get(y, ()) for y in apply.outputs if y in grads])
        return [
            switched(y, grads[y], inside.get(y, ()), here) if y in grads else zeros_like(y)
            for y in apply.outputs
        ]

    def add(self, apply: Apply, position: int, term: Tensor) -> None:
        """Add `term` to the gradient of the op's input number `position`."""
        x, own = apply.inputs[position], entered(self._here, apply, position)
        if x in self.grads:
            term, own = _sum_for(x, (self.grads[x], self._inside.get(x, ())), (term, own))
        self.grads[x], self._inside[x] = term, own

    def leave_branches(self, wrt: Iterable[Tensor]) -> None:
        """Make the gradients of these tensors valid outside of branches.

        A gradient that was computed inside branches is wrapped in switches, which replace it by 0
        if one of these branches is not chosen.
        """
        for x in dict.fromkeys(wrt):
            if self._inside.get(x):
                self.grads[x] = switched(x, self.grads[x], self._inside.pop(x))


def entered(branches: Branches, apply: Apply, position: int) -> Branches:
    """Return the branches that contain the gradient of an op's input.

    They are `branches`, which contain the gradient of the op's output. If the op is a lazy switch
    and computes this input only if its condition has a certain value, this branch is appended.
    """
    if position not in apply.op.lazy:
        return branches
    branch = (apply.inputs[0], apply.op.lazy[position])
    return branches if branch in branches else (*branches, branch)


def shared(several: Sequence[Branches]) -> Branches:
    """Return the common beginning of several sequences of branches, the outermost branch first."""
    if len(several) == 1:
        return several[0]
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*several, strict=False))
    return tuple(level[0] for level in alike)


def switched(x: Tensor, gradient: Tensor, inside: Branches, outside: Branches = ()) -> Tensor:
    """Return a gradient of `x` that is 0 unless all branches in `inside` are chosen.

    The branches `outside`, with which `inside` begins, are not checked.
    """
    for condition, wanted in reversed(inside[len(outside) :]):
        zeros = zeros_like(x)
        gradient = Switch()(condition, *((gradient, zeros) if wanted else (zeros, gradient)))
    return gradient


def _sum_for(
    x: Tensor, first: tuple[Tensor, Branches], second: tuple[Tensor, Branches]
) -> tuple[Tensor, Branches]:
    """Return the sum of two gradients of `x`, and the branches that contain the sum.

    A gradient that is inside further branches counts as 0 if these are not chosen.
    """
    common = shared([first[1], second[1]])
    rests = [inside[len(common) :] for _, inside in (first, second)]
    are_two_sides = all(len(rest) == 1 for rest in rests) and rests[0][0][0] is rests[1][0][0]
    if are_two_sides and first[0].dtype == second[0].dtype:
        condition, wanted = rests[0][0]
        sides = (first[0], second[0]) if wanted else (second[0], first[0])
        return Switch()(condition, *sides), common
    return add(*(switched(x, term, inside, common) for term, inside in (first, second))), common

"""Sums of gradients, where lazy switches choose between branches.

A tensor that several ops read gets the sum of what they send back. For most graphs that is all
there is to `Sums`: it adds. But of a switch only the branch that its condition chooses is computed
(`Op.lazy`), and so is only that branch's gradient. Inside a branch the sweep goes on as if that
branch were chosen. Where a gradient leaves the branch it is switched, as the values are: with
zeros, or with the gradient of the other branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from kerascope.backend.graph import Apply, Tensor
from kerascope.backend.ops.broadcasting import zeros_like
from kerascope.backend.ops.control import Switch
from kerascope.backend.ops.elementwise import add

# The branches that a gradient lies in, from the outermost on, each as (condition, value that
# chooses it). The gradient holds if all of them are chosen, and is 0 otherwise.
Branches = tuple[tuple[Tensor, bool], ...]


class Sums:
    """The gradients of a sweep, and the branches that each of them lies in.

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
        """Return d loss / d output of each output of an op, whose terms are added next."""
        grads, inside = self.grads, self._inside
        here = self._here = shared([inside.get(y, ()) for y in apply.outputs if y in grads])
        return [
            switched(y, grads[y], inside.get(y, ()), here) if y in grads else zeros_like(y)
            for y in apply.outputs
        ]

    def add(self, apply: Apply, position: int, term: Tensor) -> None:
        """Add the term that the op sends to one of its inputs."""
        x, own = apply.inputs[position], entered(self._here, apply, position)
        if x in self.grads:
            term, own = _sum_for(x, (self.grads[x], self._inside.get(x, ())), (term, own))
        self.grads[x], self._inside[x] = term, own

    def leave_branches(self, wrt: Iterable[Tensor]) -> None:
        """Switch the gradients of these tensors, so that they hold whichever branch is chosen."""
        for x in dict.fromkeys(wrt):
            if self._inside.get(x):
                self.grads[x] = switched(x, self.grads[x], self._inside.pop(x))


def entered(branches: Branches, apply: Apply, position: int) -> Branches:
    """Return the branches of what an op sends to an input: one more if the op is a switch."""
    if position not in apply.op.lazy:
        return branches
    branch = (apply.inputs[0], apply.op.lazy[position])
    return branches if branch in branches else (*branches, branch)


def shared(several: Sequence[Branches]) -> Branches:
    """Return the outermost branches that all of these have in common."""
    if len(several) == 1:
        return several[0]
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*several, strict=False))
    return tuple(level[0] for level in alike)


def switched(x: Tensor, gradient: Tensor, inside: Branches, outside: Branches = ()) -> Tensor:
    """Return a gradient of `x` that lies in branches `inside` as one that lies in `outside`."""
    for condition, wanted in reversed(inside[len(outside) :]):
        zeros = zeros_like(x)
        gradient = Switch()(condition, *((gradient, zeros) if wanted else (zeros, gradient)))
    return gradient


def _sum_for(
    x: Tensor, first: tuple[Tensor, Branches], second: tuple[Tensor, Branches]
) -> tuple[Tensor, Branches]:
    """Return the sum of two gradients of `x`, and the branches that it lies in."""
    common = shared([first[1], second[1]])
    rests = [inside[len(common) :] for _, inside in (first, second)]
    are_two_sides = all(len(rest) == 1 for rest in rests) and rests[0][0][0] is rests[1][0][0]
    if are_two_sides and first[0].dtype == second[0].dtype:
        condition, wanted = rests[0][0]
        sides = (first[0], second[0]) if wanted else (second[0], first[0])
        return Switch()(condition, *sides), common
    return add(*(switched(x, term, inside, common) for term, inside in (first, second))), common

"""Gradients in branches of lazy switches: what a branch that was not chosen sends is not computed.

Inside a branch of a switch the sweep goes on as if that branch were chosen. Where the gradient
leaves the branch again it is switched, just as the values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from kerascope.backend.graph import Apply, Tensor
from kerascope.backend.ops.broadcasting import zeros_like
from kerascope.backend.ops.control import Switch
from kerascope.backend.ops.elementwise import add

# The branches that a gradient lies in, from the outermost on: it counts only if each condition is
# as wanted, and is 0 if not.
Branches = tuple[tuple[Tensor, bool], ...]


class Sums:
    """Adds up what ops send to each tensor.

    Parameters
    ----------
    grads : dict of Tensor to Tensor
        Filled in place.
    """

    def __init__(self, grads: dict[Tensor, Tensor]) -> None:
        self.grads = grads
        self._inside: dict[Tensor, Branches] = {}
        self._here: Branches = ()

    def of_outputs(self, apply: Apply) -> list[Tensor]:
        """Return d loss / d output of each output of an op, the next to send terms."""
        grads, inside = self.grads, self._inside
        here = self._here = _shared([inside.get(y, ()) for y in apply.outputs if y in grads])
        return [
            _switched(y, grads[y], inside.get(y, ()), here) if y in grads else zeros_like(y)
            for y in apply.outputs
        ]

    def add(self, apply: Apply, position: int, term: Tensor) -> None:
        """Add what the op sends to one of its inputs."""
        x, own = apply.inputs[position], _entered(self._here, apply, position)
        if x in self.grads:
            term, own = _sum_for(x, (self.grads[x], self._inside.get(x, ())), (term, own))
        self.grads[x], self._inside[x] = term, own

    def leave_branches(self, wrt: Iterable[Tensor]) -> None:
        """Let the gradients of these tensors count wherever they lie."""
        for x in dict.fromkeys(wrt):
            if self._inside.get(x):
                self.grads[x] = _switched(x, self.grads[x], self._inside.pop(x), ())


def _entered(branches: Branches, apply: Apply, position: int) -> Branches:
    """Return the branches of what an op sends to an input, which may be a branch itself."""
    if position not in apply.op.lazy:
        return branches
    branch = (apply.inputs[0], apply.op.lazy[position])
    return branches if branch in branches else (*branches, branch)


def _shared(several: Sequence[Branches]) -> Branches:
    """Return the branches around all of these."""
    if len(several) == 1:
        return several[0]
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*several, strict=False))
    return tuple(level[0] for level in alike)


def _switched(x: Tensor, gradient: Tensor, inside: Branches, outside: Branches) -> Tensor:
    """Return a gradient of `x` that counts inside some branches as one that counts outside too."""
    for condition, wanted in reversed(inside[len(outside) :]):
        zeros = zeros_like(x)
        gradient = Switch()(condition, *((gradient, zeros) if wanted else (zeros, gradient)))
    return gradient


def _sum_for(
    x: Tensor, first: tuple[Tensor, Branches], second: tuple[Tensor, Branches]
) -> tuple[Tensor, Branches]:
    """Return the sum of two gradients of `x` with the branches in which it counts."""
    shared = _shared([first[1], second[1]])
    rests = [inside[len(shared) :] for _, inside in (first, second)]
    are_two_sides = all(len(rest) == 1 for rest in rests) and rests[0][0][0] is rests[1][0][0]
    if are_two_sides and first[0].dtype == second[0].dtype:
        condition, wanted = rests[0][0]
        sides = (first[0], second[0]) if wanted else (second[0], first[0])
        return Switch()(condition, *sides), shared
    return add(*(_switched(x, term, inside, shared) for term, inside in (first, second))), shared

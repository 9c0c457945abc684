"""The reverse sweep, told box by box: what each sends to each tensor, and the gradient it makes.

Everything here is read from the events of `backend/gradient.py`; nothing is differentiated twice. A
gradient inside of a branch of a switch holds only if that branch is chosen. Here it is switched as
the engine switches it where the gradient leaves the branch, so that each is what `K.gradients`
gives, and the contributions to a tensor add up to its gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from kerascope.backend.gradient import Branches, Swept, gradient_stage
from kerascope.backend.graph import Apply, Tensor, is_float
from kerascope.backend.ops.broadcasting import zeros_like
from kerascope.backend.ops.control import Switch
from kerascope.backend.scopes import name_scope, root_scope
from kerascope.backend.traversal import applies_between
from kerascope.viz.extract.gradient_forward import Forward


@dataclass
class Contribution:
    """What one box sends to a tensor.

    Attributes
    ----------
    consumer : str
        The box.
    operand : int
        Which argument of the op, where each counts alone; else 0.
    terms : list of Tensor
        What its ops send.
    senders : dict of Tensor to None
        The outputs of the box whose gradients these were made from.
    """

    consumer: str
    operand: int
    terms: list[Tensor] = field(default_factory=list)
    senders: dict[Tensor, None] = field(default_factory=dict)

    @property
    def total(self) -> Tensor:
        """The sum of the terms."""
        with root_scope(), name_scope("gradients"):
            return functools.reduce(lambda total, term: total + term, self.terms)


@dataclass
class Backward:
    """What the sweep made.

    Attributes
    ----------
    gradients : dict of Tensor to Tensor
        d loss / d x of every tensor x that leaves its box, from the first tensors on.
    contributions : dict of Tensor to list of Contribution
        Of the same tensors, in the order in which the forward pass reads them.
    stopped : list of str
        Boxes which a gradient enters, and leaves on no way to what was asked for.
    """

    gradients: dict[Tensor, Tensor]
    contributions: dict[Tensor, list[Contribution]]
    stopped: list[str]


def backward_of(forward: Forward, wrt: Sequence[Tensor]) -> Backward:
    """Sweep from the loss of a forward pass back to `wrt`."""
    sweep = _Sweep(forward, wrt)
    stage = gradient_stage(forward.loss, list(wrt))
    for event in stage:
        if isinstance(event, Swept):
            sweep.enter(event)
        else:
            sweep.gradients[event.loss] = event.gradient
    sweep.gradients.update(
        (x, found) for x, found in zip(wrt, stage.result, strict=True) if found is not None
    )
    return sweep.backward()


class _Sweep:
    """Collects the events."""

    def __init__(self, forward: Forward, wrt: Sequence[Tensor]) -> None:
        self.forward = forward
        self.between = applies_between(wrt, [forward.loss])
        outer = [
            x for apply in self.between for x in apply.inputs if self._is_used_outside(x, apply)
        ]
        dependent = {*wrt, *(y for apply in self.between for y in apply.outputs)}
        drawn = (x for x in [*wrt, *outer, forward.loss] if x in dependent or x is forward.loss)
        self.drawn = dict.fromkeys(drawn)
        self.gradients: dict[Tensor, Tensor] = {}
        self.uses: dict[Tensor, dict[tuple[str, int], Contribution]] = {}
        self.entered: dict[str, bool] = {}  # box -> whether a gradient left it
        self._arrived = {forward.loss}
        self._inside: dict[Tensor, Branches] = {}
        self._senders: dict[Tensor, dict[Tensor, None]] = {}

    def _is_used_outside(self, x: Tensor, apply: Apply) -> bool:
        return self.forward.home(x) not in (None, self.forward.homes[apply])

    def enter(self, event: Swept) -> None:
        """Enter what one op sends to its inputs."""
        box = self.forward.homes[event.apply]
        outputs = [y for y in event.apply.outputs if y in self._arrived]
        branches = _shared([self._inside.get(y, ()) for y in outputs])
        senders: dict[Tensor, None] = {}
        for y, gradient in zip(event.apply.outputs, event.output_grads, strict=True):
            if y in self.drawn and y in self._arrived:
                self.gradients.setdefault(y, _out_of(branches, gradient, y))
                senders[y] = None
            else:
                senders.update(self._senders.get(y, {}))
        self.entered.setdefault(box, False)
        op = event.apply.op
        for operand, (x, term) in enumerate(zip(event.apply.inputs, event.terms, strict=True)):
            if term is not None and is_float(x.dtype):
                own = branches
                if operand in op.lazy:
                    branch = (event.apply.inputs[0], op.lazy[operand])
                    own = branches if branch in branches else (*branches, branch)
                self._send(box, operand, x, term, own, senders)

    def _send(
        self,
        box: str,
        operand: int,
        x: Tensor,
        term: Tensor,
        branches: Branches,
        senders: dict[Tensor, None],
    ) -> None:
        """Enter one term on its way to a tensor."""
        self._inside[x] = _shared([self._inside.get(x, branches), branches])
        self._arrived.add(x)
        if x not in self.drawn:
            self._senders.setdefault(x, {}).update(senders)
            return
        operand = operand if self.forward.counts_uses else 0
        use = self.uses.setdefault(x, {}).setdefault((box, operand), Contribution(box, operand))
        use.terms.append(_out_of(branches, term, x))
        use.senders.update(senders)
        self.entered[box] = self.entered[box] or self.forward.home(x) != box

    def backward(self) -> Backward:
        """Return what was collected, in the order of the forward pass."""
        places = {box: place for place, box in enumerate(self.forward.homes.values())}
        contributions = {
            x: sorted(uses.values(), key=lambda use: (places[use.consumer], use.operand))
            for x, uses in self.uses.items()
        }
        gradients = {x: self.gradients[x] for x in self.drawn if x in self.gradients}
        stopped = [box for box, goes_on in self.entered.items() if not goes_on]
        return Backward(gradients, contributions, stopped)


def _shared(several: Sequence[Branches]) -> Branches:
    """Return the branches around all of these."""
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*several, strict=False))
    return tuple(level[0] for level in alike)


def _out_of(branches: Branches, gradient: Tensor, x: Tensor) -> Tensor:
    """Return a gradient of `x` inside some branches as one that holds in any case."""
    with root_scope(), name_scope("gradients"):
        for condition, wanted in reversed(branches):
            zeros = zeros_like(x)
            gradient = Switch()(condition, *((gradient, zeros) if wanted else (zeros, gradient)))
    return gradient

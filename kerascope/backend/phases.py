"""The phases of a training step: forward, loss, metrics, then backward, then the update.

A search from the results backward would compute one weight's gradient, then its new value, then the
next weight's gradient. That gives the same numbers, but it is not how the algorithm is told, and
the new values of many small weights could not be computed together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from heapq import heapify, heappop, heappush

from kerascope.backend.graph import Apply, Tensor
from kerascope.backend.traversal import applies_in_order


class Phase(IntEnum):
    """A phase, in the order in which they are run.

    Examples
    --------
    >>> Phase.LOSS < Phase.CLIP, Phase.LOSS.word, Phase.CLIP.word
    (True, 'loss', 'backward')
    """

    FORWARD = 0
    LOSS = 1
    METRICS = 2
    BACKWARD = 3
    CLIP = 4
    UPDATE = 5

    @property
    def word(self) -> str:
        """How readers call it: gradients are clipped in the backward phase."""
        return "backward" if self is Phase.CLIP else self.name.lower()


PHASE_OF_SCOPE = {
    "gradients": Phase.BACKWARD,
    "clip": Phase.CLIP,
    "update": Phase.UPDATE,
    "loss": Phase.LOSS,
}


def phase_of_scope(scope: str) -> Phase:
    """Return the phase that a scope names; what names none is forward.

    Examples
    --------
    >>> phase_of_scope("dense_1"), phase_of_scope("dense_1_loss"), phase_of_scope("gradients/x")
    (<Phase.FORWARD: 0>, <Phase.LOSS: 1>, <Phase.BACKWARD: 3>)
    """
    outer = _outer(scope)
    if outer in PHASE_OF_SCOPE:
        return PHASE_OF_SCOPE[outer]
    if outer.endswith("_metrics"):
        return Phase.METRICS
    is_loss = outer.endswith("_loss") or "_regularizer" in scope
    return Phase.LOSS if is_loss else Phase.FORWARD


def phases_of(applies: Sequence[Apply], outputs: Iterable[Tensor]) -> dict[Apply, Phase]:
    """Return the phase of each call: no call's is earlier than one that it needs.

    What only new values need belongs to the update, such as the moving averages of a layer, but not
    gradients.

    Parameters
    ----------
    applies : list of Apply
        In an order in which they can be computed.
    outputs : list of Tensor
        What the function returns.
    """
    needed = {tensor.owner for tensor in outputs}
    own: dict[Apply, Phase] = {}
    for apply in reversed(applies):
        own[apply] = phase_of_scope(apply.scope.name)
        if apply in needed or own[apply] in (Phase.BACKWARD, Phase.CLIP):
            needed.update(x.owner for x in apply.inputs)
        else:
            own[apply] = Phase.UPDATE
    phases: dict[Apply, Phase] = {}
    for apply in applies:
        before = [phases[x.owner] for x in apply.inputs if x.owner in phases]
        phases[apply] = max([own[apply], *before])
    return phases


def in_phases(applies: Sequence[Apply], phases: dict[Apply, Phase]) -> list[Apply]:
    """Return the calls with all of one phase together, each still after those that it needs.

    Backward, the last layer is first, with all of its gradients. In the other phases the order
    stays as it was.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> from kerascope.backend.traversal import applies_in_order
    >>> x, y = K.variable(1.0), K.variable(2.0)
    >>> loss = K.square(x * y)
    >>> slopes = K.gradients(loss, [x, y])
    >>> with K.name_scope("update"):
    ...     moved = [v - g for v, g in zip([x, y], slopes)]
    >>> applies = applies_in_order([loss, *moved])
    >>> order = in_phases(applies, phases_of(applies, [loss]))
    >>> [apply.scope.name.partition("/")[0] or apply.op.name for apply in order]
    ['multiply', 'square', 'gradients', ..., 'gradients', 'update', 'update']
    """
    parts: dict[Phase, list[Apply]] = {phase: [] for phase in Phase}
    for apply in applies:
        parts[phases[apply]].append(apply)
    before = [*parts[Phase.FORWARD], *parts[Phase.LOSS], *parts[Phase.METRICS]]
    parts[Phase.BACKWARD] = _last_first(parts[Phase.BACKWARD], before)
    return [apply for part in parts.values() for apply in part]


def _last_first(applies: Sequence[Apply], before: Sequence[Apply]) -> list[Apply]:
    """Return the calls of the sweep, those of the last layer first.

    It is made from its end: of the calls that no other waits for, that of the first layer is the
    last. Inside a layer, and where there are no layers, they are in the order of a search.
    """
    place = {_outer(apply.scope.name): position for position, apply in enumerate(before)}
    found = {apply: number for number, apply in enumerate(_searched(applies))}
    makers = {apply: {x.owner for x in apply.inputs if x.owner in found} for apply in found}
    n_readers = Counter(maker for several in makers.values() for maker in several)

    def rank(apply: Apply) -> tuple[int, int, Apply]:
        swept = apply.scope.name.removeprefix("gradients").removeprefix("/")
        return place.get(_outer(swept), len(before)), -found[apply], apply

    ready = [rank(apply) for apply in found if not n_readers[apply]]
    heapify(ready)
    ordered = []
    while ready:
        *_, apply = heappop(ready)
        ordered.append(apply)
        for maker in makers[apply]:
            n_readers[maker] -= 1
            if not n_readers[maker]:
                heappush(ready, rank(maker))
    return ordered[::-1]


def _outer(scope: str) -> str:
    return scope.partition("/")[0]


def _searched(applies: Sequence[Apply]) -> list[Apply]:
    """Return calls in the order of a search that begins at the last of their results."""
    own = set(applies)
    read = {x for apply in applies for x in apply.inputs}
    fed = [x for x in read if x.owner not in own]
    results = [y for apply in reversed(applies) for y in apply.outputs if y not in read]
    return applies_in_order(results, fed)

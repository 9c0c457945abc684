"""The phases of a training step: forward and loss, then backward, then the update.

A search from the results backward would compute one weight's gradient, then its new value, then the
next weight's gradient. That gives the same numbers, but it is not how the algorithm is told, and
the new values of many small weights could not be computed together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kerascope.backend.graph import Apply, Tensor

FORWARD, BACKWARD, UPDATE = range(3)
PHASE_OF_SCOPE = {"gradients": BACKWARD, "clip": BACKWARD, "update": UPDATE}


def in_phases(applies: Sequence[Apply], outputs: Iterable[Tensor]) -> list[Apply]:
    """Return the calls with all of one phase together, each still after those that it needs.

    What only new values need, such as the moving averages of a layer, belongs to the update.

    Parameters
    ----------
    applies : list of Apply
        In an order in which they can be computed; it is kept inside a phase.
    outputs : list of Tensor
        What the function returns.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> from kerascope.backend.traversal import applies_in_order
    >>> x, y = K.variable(1.0), K.variable(2.0)
    >>> loss = K.square(x * y)
    >>> slopes = K.gradients(loss, [x, y])
    >>> with K.name_scope("update"):
    ...     moved = [v - g for v, g in zip([x, y], slopes)]
    >>> order = in_phases(applies_in_order([loss, *moved]), [loss])
    >>> [apply.scope.name.partition("/")[0] or apply.op.name for apply in order]
    ['multiply', 'square', 'gradients', ..., 'gradients', 'update', 'update']
    """
    phases: dict[Apply, int] = {}
    for apply in applies:
        own = PHASE_OF_SCOPE.get(apply.scope.name.partition("/")[0], FORWARD)
        phases[apply] = max([own, *(phases.get(x.owner, FORWARD) for x in apply.inputs if x.owner)])
    needed = {tensor.owner for tensor in outputs}
    for apply in reversed(applies):
        if apply in needed or phases[apply] == BACKWARD:
            needed.update(x.owner for x in apply.inputs)
        else:
            phases[apply] = UPDATE
    return sorted(applies, key=phases.__getitem__)

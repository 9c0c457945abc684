"""Walks over the op graph: in which order to compute, and what depends on what.

Everything here is a loop over an explicit stack: a chain of 30,000 ops needs no recursion.
"""

from __future__ import annotations

from collections.abc import Iterable

from kerascope.backend.graph import Apply, Tensor


def applies_in_order(outputs: Iterable[Tensor], fed: Iterable[Tensor] = ()) -> list[Apply]:
    """Return every Apply that `outputs` need, each after those that it needs itself.

    What computes a `fed` tensor is left out.

    The order is that of a depth-first search through the inputs from left to right: the same graph
    gives the same order in every process.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(3,))
    >>> [apply.op.name for apply in applies_in_order([K.exp(x) + K.square(x)])]
    ['exp', 'square', 'add']
    """
    ordered: list[Apply] = []
    seen: set[Apply] = set()
    given = set(fed)
    for output in outputs:
        if output.owner is None or output.owner in seen or output in given:
            continue
        seen.add(output.owner)
        stack = [(output.owner, iter(output.owner.inputs))]
        while stack:
            apply, inputs = stack[-1]
            for x in inputs:
                if x.owner is not None and x.owner not in seen and x not in given:
                    seen.add(x.owner)
                    stack.append((x.owner, iter(x.owner.inputs)))
                    break
            else:
                ordered.append(apply)
                stack.pop()
    return ordered


def leaves(outputs: Iterable[Tensor]) -> list[Tensor]:
    """Return the placeholders, variables and constants that `outputs` need, by first use."""
    outputs = list(outputs)
    found = dict.fromkeys(x for x in outputs if x.owner is None)
    for apply in applies_in_order(outputs):
        found.update(dict.fromkeys(x for x in apply.inputs if x.owner is None))
    return list(found)


def applies_between(wrt: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Apply]:
    """Return, in order, the applies through which `outputs` depend on `wrt`."""
    dependent: set[Tensor] = set(wrt)
    between = []
    for apply in applies_in_order(outputs):
        if any(x in dependent for x in apply.inputs):
            dependent.update(apply.outputs)
            between.append(apply)
    return between

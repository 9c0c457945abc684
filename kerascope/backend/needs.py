"""When an op is needed: in every call of a function, or only if conditions have certain values.

`K.switch(condition, x, y)` with a scalar condition uses one of its branches. Ops that only the
other branch needs are not computed in that call. Theano's `ifelse` and TensorFlow's `cond` are lazy
in the same way. `Op.lazy` declares which inputs of an op depend on its first one. `needs_of` passes
these conditions back through the graph: an op is needed if any op that reads it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kerascope.backend.graph import Apply, Tensor

# A condition and the value it must have; several that must hold together; alternatives of these.
Literal = tuple[Tensor, bool]
Conjunction = frozenset[Literal]
Need = frozenset[Conjunction]

ALWAYS: Need = frozenset([frozenset()])
NEVER: Need = frozenset()
MOST_ALTERNATIVES = 4
MOST_CONDITIONS = 8


def needs_of(applies: Sequence[Apply], results: Iterable[Tensor]) -> dict[Apply, Need]:
    """Return, for each Apply, under which conditions `results` need it.

    `applies` must be in order of computation. The conditions of an Apply are a set of
    conjunctions. It is needed if all conditions of one of them hold.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> from kerascope.backend.graph import applies_in_order
    >>> phase, x = K.placeholder(shape=()), K.placeholder(shape=(3,))
    >>> y = K.switch(phase, K.exp(x), K.square(x)) + 1
    >>> applies = applies_in_order([y])
    >>> for apply, need in needs_of(applies, [y]).items():
    ...     print(apply.op.name, [wanted for condition in need for _, wanted in condition])
    exp [True]
    square [False]
    switch []
    add []
    """
    needs: dict[Apply, Need] = dict.fromkeys(applies, NEVER)
    for result in results:
        if result.owner in needs:
            needs[result.owner] = ALWAYS
    for apply in reversed(applies):
        need = needs[apply] = simplified(needs[apply])
        for position, x in enumerate(apply.inputs):
            if x.owner in needs:
                wanted = apply.op.lazy.get(position)
                needs[x.owner] |= need if wanted is None else _also(need, apply.inputs[0], wanted)
    return needs


def _also(need: Need, condition: Tensor, wanted: bool) -> Need:
    """Return the conjunctions of `need`, each with "`condition` has the value `wanted`" added.

    Conjunctions that require the opposite value are removed. Switches may be nested hundreds deep.
    Conditions beyond `MOST_CONDITIONS` are dropped. Then the op is computed more often
    than needed, never less often.
    """
    possible = [c for c in need if (condition, not wanted) not in c]
    literal = frozenset([(condition, wanted)])
    return frozenset(c if len(c) >= MOST_CONDITIONS else c | literal for c in possible)


def simplified(need: Need) -> Need:
    """Return the conjunctions of an op, merged if possible; ALWAYS if too many remain.

    For example, "c and d, or not c and d" becomes "d", and so does "d, or c and d".
    """
    shorter = True
    while shorter and len(need) <= 4 * MOST_ALTERNATIVES:
        merged = {c - {(x, wanted)} for c in need for x, wanted in c if _flipped(c, x) in need}
        together = need | merged
        kept = frozenset(c for c in together if not any(other < c for other in together))
        shorter = kept != need
        need = kept
    return need if len(need) <= MOST_ALTERNATIVES else ALWAYS


def _flipped(conjunction: Conjunction, condition: Tensor) -> Conjunction:
    """Return a copy of a conjunction in which one condition must have the opposite value."""
    return frozenset((x, wanted ^ (x is condition)) for x, wanted in conjunction)


def known_before(need: Need, position: int, positions: dict[Apply, int]) -> Need:
    """Return the conjunctions of an op, without conditions computed at `position` or later.

    `position` is that of the op in the order of computation. Without these conditions, the op is
    computed more often than needed, never less often.
    """
    conjunctions = [
        frozenset(
            (x, wanted)
            for x, wanted in conjunction
            if x.owner is None or positions.get(x.owner, -1) < position
        )
        for conjunction in need
    ]
    return simplified(frozenset(conjunctions))

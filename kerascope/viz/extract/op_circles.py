"""Parts of an op graph between which no arrows go round in a circle.

Frames around ops must not go round in a circle: if ops of A feed B and ops of B feed A, then
neither could be drawn above the other. The gradients of two layers may do this, as the sweep goes
to and fro between them.

At each level of nesting a circle is cut in up to three steps, of which each takes on the frames
that the one before has left on a circle:

1. by returns: how often a path to an op has come back into the op's own frame. This tells the calls
   of a shared layer apart;
2. into the pieces that hang together;
3. by turns: how often a path to an op goes over from one frame into another. An arrow between two
   frames then always leads into a later turn, so no circle can be left.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kerascope.backend.graph import Apply

Parts = dict[Apply, Hashable]

# The step by returns takes one walk for each frame on a circle; it is left out where that is long.
MOST_STEPS = 2_000_000


def acyclic_parts(applies: Sequence[Apply], wanted: Parts) -> Parts:
    """Return the parts that ops fall into, so that no arrows between parts go round in a circle.

    Parameters
    ----------
    applies : list of Apply
        Each after those that it needs.
    wanted : dict of Apply to object
        The part that each shall be in. It is kept where that makes no circle.
    """
    parts = wanted
    for cut in (_returns, _pieces, _turns):
        tangled = _tangled(applies, parts)
        if not tangled:
            break
        finer = cut(applies, parts, tangled)
        parts = {
            apply: (part, finer[apply]) if part in tangled else part
            for apply, part in parts.items()
        }
    return parts


def _sources(apply: Apply, inside: Parts) -> list[Apply]:
    return [x.owner for x in apply.inputs if x.owner is not None and x.owner in inside]


def _tangled(applies: Sequence[Apply], parts: Parts) -> set[Hashable]:
    """Return the parts that lie on a circle."""
    after: dict[Hashable, set[Hashable]] = {parts[apply]: set() for apply in applies}
    for apply in applies:
        for source in _sources(apply, parts):
            if parts[source] != parts[apply]:
                after[parts[source]].add(parts[apply])
    numbers = dict.fromkeys(after, 0)
    for targets in after.values():
        for target in targets:
            numbers[target] += 1
    ready = [part for part, number in numbers.items() if not number]
    while ready:
        for target in after.pop(ready.pop()):
            numbers[target] -= 1
            if not numbers[target]:
                ready.append(target)
    if not after:
        return set()
    import networkx

    circles = networkx.strongly_connected_components(networkx.DiGraph(after))
    return {part for circle in circles if len(circle) > 1 for part in circle}


def _returns(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Return how often a path to each op has come back into the op's part."""
    inside = [apply for apply in applies if parts[apply] in tangled]
    returns: Parts = dict.fromkeys(applies, 0)
    if len(inside) * len(tangled) > MOST_STEPS:
        return returns
    for part in tangled:
        # Of an op outside: the most returns of an op of this part before it, -1 without one.
        counts: dict[Apply, int] = {}
        for apply in inside:
            is_in_part = parts[apply] == part
            before = [
                counts[source] + (is_in_part and parts[source] != part)
                for source in _sources(apply, parts)
                if source in counts
            ]
            counts[apply] = max(before, default=0 if is_in_part else -1)
            if is_in_part:
                returns[apply] = counts[apply]
    return returns


def _pieces(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Return the number of the piece of its part in which each op hangs together with others."""
    above: dict[Apply, Apply] = {apply: apply for apply in applies}

    def first(apply: Apply) -> Apply:
        while above[apply] is not apply:
            above[apply] = above[above[apply]]
            apply = above[apply]
        return apply

    for apply in applies:
        for source in _sources(apply, parts):
            if parts[source] == parts[apply]:
                above[first(apply)] = first(source)
    numbers: dict[Apply, int] = {}
    return {apply: numbers.setdefault(first(apply), len(numbers)) for apply in applies}


def _turns(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Return how often the longest path to each op goes over from one part into another."""
    turns: dict[Apply, int] = {}
    for apply in applies:
        sources = _sources(apply, parts)
        turns[apply] = max(
            (turns[source] + (parts[source] != parts[apply]) for source in sources), default=0
        )
    return dict(turns)

"""Which frames lie around what: where an arrow between two frames belongs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kerascope.viz.graph import GraphGroup

Chain = tuple[str, ...]


def chains_of(groups: Iterable[GraphGroup]) -> dict[str, Chain]:
    """Return for each group the groups around it, from the whole graph ("") down to itself.

    Examples
    --------
    >>> chains_of([GraphGroup("a", "a"), GraphGroup("a/b", "b", "a")])
    {'': ('',), 'a': ('', 'a'), 'a/b': ('', 'a', 'a/b')}
    """
    chains: dict[str, Chain] = {"": ("",)}
    for group in groups:
        chains[group.id] = (*chains[group.parent], group.id)
    return chains


def shared_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many frames two chains have in common, from the outermost in.

    Examples
    --------
    >>> shared_length(("", "a", "a/b"), ("", "a", "a/c"))
    2
    """
    if one is other:
        return len(one)
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length

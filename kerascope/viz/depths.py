"""Depths: the longest path from each box to an end."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def longest_paths(names: Sequence[Name], edges: Iterable[tuple[Name, Name]]) -> dict[Name, int]:
    """Return the depth of each name: the longest path from it to an end, the ends at 0.

    Parameters
    ----------
    names : sequence
    edges : iterable of (name, name)
        Where they form a circle, the one that a walk from the first name on meets last does not
        count.

    Examples
    --------
    >>> longest_paths("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    {'a': 2, 'b': 1, 'c': 0}
    """
    following: dict[Name, list[Name]] = {name: [] for name in names}
    for source, target in edges:
        following[source].append(target)
    depths: dict[Name, int] = {}
    open_names: dict[Name, None] = {}
    for start in names:
        stack = [start]
        while stack:
            name = stack[-1]
            if name in depths:
                stack.pop()
                continue
            if name in open_names:
                known = [depths[after] for after in following[name] if after in depths]
                depths[name] = 1 + max(known, default=-1)
                stack.pop()
                continue
            open_names[name] = None
            stack += [x for x in following[name] if x not in depths and x not in open_names]
    return {name: depths[name] for name in names}

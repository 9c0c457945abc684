"""Values in nested lists, tuples and dicts, such as arguments and configurations.

Plain containers are traversed at any depth. An instance of a derived class, such as a named tuple,
counts as a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

__all__: list[str] = []  # internal

Kind = type | tuple[type, ...]


def replaced(value: Any, kind: Kind, replacement: Callable[[Any], Any]) -> Any:
    """Return a nested value in which each instance of a class is replaced by a function's result.

    Examples
    --------
    >>> replaced({"a": [1, "b"], "c": (2.5, 3)}, int, str)
    {'a': ['1', 'b'], 'c': (2.5, '3')}
    """
    if isinstance(value, kind):
        return replacement(value)
    if type(value) is dict:
        return {key: replaced(item, kind, replacement) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)([replaced(item, kind, replacement) for item in value])
    return value


def found_in(value: Any, kind: Kind) -> list[Any]:
    """Return all instances of a class in a nested value, in order.

    Examples
    --------
    >>> found_in({"a": [1, "b"], "c": (2.5, 3)}, int)
    [1, 3]
    """
    found: list[Any] = []
    replaced(value, kind, found.append)
    return found


def dicts_in(config: Any) -> Iterator[dict[str, Any]]:
    """Yield every dict of a configuration, including nested dicts.

    Examples
    --------
    >>> [sorted(one) for one in dicts_in({"layers": [{"name": "a"}, {"name": "b"}]})]
    [['layers'], ['name'], ['name']]
    """
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def flattened(value: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Flatten a nested value: return its leaves, and a function that rebuilds it from new leaves.

    None counts as an empty container. The leaves of a dict are in the order of its sorted keys, as
    in Keras 3; the rebuilt dict has the original order.

    Examples
    --------
    >>> found, packed = flattened({"b": (2,), "a": [1, None]})
    >>> found, packed("xy")
    ([1, 2], {'b': ('y',), 'a': ['x', None]})
    """
    if value is None:
        return [], lambda others: None
    if type(value) not in (list, tuple, dict):
        return [value], lambda others: others[0]
    keys: Any = sorted(value, key=str) if type(value) is dict else range(len(value))
    parts = [flattened(value[key]) for key in keys]
    ends = list(accumulate(len(found) for found, _ in parts))

    def packed(others: Sequence[Any]) -> Any:
        starts = [0, *ends]
        items = {
            key: put(others[start:end])
            for key, (_, put), start, end in zip(keys, parts, starts, ends, strict=False)
        }
        is_dict = type(value) is dict
        return {key: items[key] for key in value} if is_dict else type(value)(items.values())

    return [one for found, _ in parts for one in found], packed

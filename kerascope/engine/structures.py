"""How tensors stand in lists and dicts, as the inputs and outputs of a model do in Keras 3.

Inside, a model has them in flat lists; its structure, `{"b": 1, "a": [0]}`, says in which place of
what the caller sees each one stands. None is the structure of one tensor, or of a flat list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kerascope.engine.arguments import listed, unpack_singleton
from kerascope.errors import ArgumentError, DtypeError
from kerascope.nested import dicts_in, found_in, replaced


def listed_tensors(where: str, what: str, given: Any) -> tuple[Any, list[Any]]:
    """Return tensors as a list, and their indices in the lists and dicts where they stood.

    Raises
    ------
    DtypeError
        A key of a dict is no word, or there is a place without a tensor.
    """
    names = [name for one in dicts_in(given) for name in one]
    if not all(isinstance(name, str) for name in names):
        raise DtypeError(f"{where}: {what} tensors have the keys {names}; expected str.")
    if given is not None and found_in(given, type(None)):
        raise DtypeError(f"{where}: {what} tensors to a Model must be Keras tensors; got None.")
    return listed_with_structure(given)


def listed_with_structure(given: Any) -> tuple[Any, list[Any]]:
    """Return things as a list, and their indices in the lists and dicts where they stood.

    Of what stands alone or in a single list the indices are None: those say nothing.
    """
    things, put = listed(given)
    return None if put is unpack_singleton else put(range(len(things))), things


def packed(structure: Any, items: Sequence[Any]) -> Any:
    """Return items where the structure has their indices.

    Examples
    --------
    >>> packed({"b": 1, "a": [0]}, "xy")
    {'b': 'y', 'a': ['x']}
    """
    if structure is None:
        return unpack_singleton(list(items))
    return replaced(structure, int, items.__getitem__)


def names_in(structure: Any, own: list[str]) -> list[str]:
    """Return the way to each index in a structure; where it ends in a list, by a name of its own.

    Examples
    --------
    >>> names_in({"b": 1, "a": [0]}, ["dense", "add"])
    ['a/dense', 'b']
    """
    if structure is None:
        return own
    return [
        "/".join([*map(str, before), last if isinstance(last, str) else name])
        for (*before, last), name in zip(_ways(structure), own, strict=True)
    ]


def _ways(structure: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the keys and places that lead to each index, in the order of the indices."""
    if isinstance(structure, int):
        yield ()
        return
    items = sorted(structure.items()) if isinstance(structure, dict) else enumerate(structure)
    yield from ((key, *way) for key, item in items for way in _ways(item))


def by_names(structure: Any, names: list[str], value: Any) -> Any:
    """Return what is given for each index of a structure as a dict by their names.

    Anything else, as a single thing for all or a flat list, stays as it is; a key that the
    structure has not is kept too, for others to refuse.

    Examples
    --------
    >>> by_names({"b": 1, "a": [0]}, ["a/dense", "b"], {"a": ["x"], "b": "y"})
    {'a/dense': 'x', 'b': 'y'}
    """
    if structure is None or not _is_alike(structure, value):
        return value
    found: dict[Any, Any] = {}
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        place = structure.get(key) if isinstance(structure, dict) else structure[key]
        if place is None or isinstance(place, int):
            found[key if place is None else names[place]] = item
        elif _is_alike(place, item):
            found |= by_names(place, names, item)
        else:
            inside = [names[index] for index in found_in(place, int)]
            raise ArgumentError(f"got one {type(item).__name__} for {inside}; expected one each.")
    return found


def _is_alike(structure: Any, value: Any) -> bool:
    if isinstance(structure, dict):
        return isinstance(value, dict)
    return isinstance(value, (list, tuple)) and len(value) == len(structure)

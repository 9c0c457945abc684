"""`keras.tree`: Keras 3's functions on nested lists, tuples and dicts.

All functions use `_unpack`, which returns the items of a container and a function to rebuild it.
Unlike `kerascope.nested_values`, which is for the arguments of layers, it also opens named tuples,
ordered dicts and deques, and None is a value. An instance of a subclass of list or dict is a value.
"""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from kerascope.errors import ArgumentError, DtypeError

__all__ = [
    "MAP_TO_NONE",
    "assert_same_paths",
    "assert_same_structure",
    "flatten",
    "flatten_with_path",
    "is_nested",
    "lists_to_tuples",
    "map_shape_structure",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
    "traverse",
]

Path = tuple[Any, ...]
Opened = tuple[Sequence[Any], list[Any], Callable[[Iterable[Any]], Any]]


class MAP_TO_NONE:
    """A marker that the function given to `traverse` returns to replace its argument by None."""


_DICTS = (dict, OrderedDict, defaultdict)


def _unpack(structure: Any) -> Opened | None:
    """Return the keys and items of a container, and a function that rebuilds it from new items.

    Return None if the value is not a container.
    """
    kind = type(structure)
    if kind in _DICTS:
        keys = list(structure) if kind is OrderedDict else _in_order(structure)
        return keys, [structure[key] for key in keys], partial(_refilled, structure, keys)
    made: Callable[[Iterable[Any]], Any] = kind
    if kind is deque:
        made = partial(deque, maxlen=structure.maxlen)
    elif hasattr(kind, "_fields") and issubclass(kind, tuple):
        made = getattr(kind, "_make")  # noqa: B009 (mypy has no class of named tuples)
    elif kind not in (list, tuple):
        return None
    return range(len(structure)), list(structure), made


def _in_order(keys: Iterable[Any]) -> list[Any]:
    """Return the keys of a dict in order. Keys of several types are first sorted by type name."""
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (type(key).__module__, type(key).__qualname__, key))


def _refilled(like: Any, keys: Sequence[Any], items: Iterable[Any]) -> Any:
    new = copy.copy(like)  # keeps the order of keys and the default factory
    new.update(zip(keys, items, strict=True))
    return new


def is_nested(structure: Any) -> bool:
    """Return whether a value is a container whose items are visited.

    Examples
    --------
    >>> is_nested([]), is_nested({"a": 1}), is_nested("ab"), is_nested(None)
    (True, True, False, False)
    """
    return _unpack(structure) is not None


def flatten(structure: Any) -> list[Any]:
    """Return the values in a structure; values of a dict are in the order of its sorted keys.

    Examples
    --------
    >>> flatten({"b": (1, None), "a": [2]})
    [2, 1, None]
    """
    return [value for _, value in flatten_with_path(structure)]


def flatten_with_path(structure: Any) -> list[tuple[Path, Any]]:
    """Return pairs (path, value); a path is the tuple of keys and indices of a value.

    Examples
    --------
    >>> flatten_with_path({"b": (1, None), "a": [2]})
    [(('a', 0), 2), (('b', 0), 1), (('b', 1), None)]
    """
    opened = _unpack(structure)
    if opened is None:
        return [((), structure)]
    keys, items, _ = opened
    return [
        ((key, *path), value)
        for key, item in zip(keys, items, strict=True)
        for path, value in flatten_with_path(item)
    ]


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """Return a structure with its values replaced, in the order of `flatten`.

    Raises
    ------
    ArgumentError
        The number of new values differs from that of the structure.

    Examples
    --------
    >>> pack_sequence_as({"b": (1, None), "a": [2]}, "xyz")
    {'b': ('y', 'z'), 'a': ['x']}
    """
    values, count = list(flat_sequence), len(flatten(structure))
    if len(values) != count:
        raise ArgumentError(
            f"keras.tree.pack_sequence_as: expected {count} values, one for each in "
            f"{structure!r}, got {len(values)}."
        )
    rest = iter(values)
    return map_structure(lambda _: next(rest), structure)


# --- functions on structures ----------------------------------------------------------------------


def map_structure(func: Callable[..., Any], *structures: Any, none_is_leaf: bool = True) -> Any:
    """Return a structure with the results of a function for the values of one or more structures.

    With `none_is_leaf=False`, None stays None, and the function is not called.

    Raises
    ------
    ArgumentError
        The structures differ, or no structure is given.
    DtypeError
        `func` is not callable.

    Examples
    --------
    >>> map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
    {'a': [11, 22]}
    """

    def strictly(*values: Any) -> Any:
        inside = [value for value in values if is_nested(value)]
        is_none = [value is None for value in values]
        if inside or (not none_is_leaf and any(is_none) and not all(is_none)):
            raise ArgumentError(
                f"keras.tree: expected the same structure, got at one place: "
                f"{', '.join(map(repr, values))}."
            )
        return None if not none_is_leaf and all(is_none) else func(*values)

    return _mapped(func, strictly, structures[:1], structures)


def map_structure_up_to(shallow_structure: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """Map a function like `map_structure`, down to the depth of the first structure only.

    The function receives whole containers where the other structures are deeper.

    Raises
    ------
    ArgumentError
        A structure differs within that depth, or no structure is given.
    DtypeError
        `func` is not callable.

    Examples
    --------
    >>> map_structure_up_to([0, 0], len, [(1, 2), "abc"])
    [2, 3]
    """
    return _mapped(func, func, (shallow_structure,), structures)


def _mapped(func: Any, apply: Callable[..., Any], first: Any, others: Any) -> Any:
    if not callable(func):
        raise DtypeError(f"keras.tree: expected a function, got func={func!r}.")
    if not others:
        raise ArgumentError("keras.tree: expected at least one structure, got none.")

    def inside(like: Any, *given: Any) -> Any:
        opened = _unpack(like)
        if opened is None:
            return apply(*given)
        columns = [_same_places(like, opened[0], other) for other in given]
        return opened[2]([inside(*row) for row in zip(opened[1], *columns, strict=True)])

    return inside(*first, *others)


def _same_places(like: Any, keys: Sequence[Any], other: Any) -> list[Any]:
    """Return the items of `other`, which must have the form of `like`, in the order of `keys`."""
    opened = _unpack(other)
    both = {type(like), type(other)}
    is_same_kind = len(both) == 1 or both <= set(_DICTS)
    if opened is None or not is_same_kind or set(opened[0]) != set(keys):
        raise ArgumentError(f"keras.tree: expected the structure of {like!r}, got {other!r}.")
    found = dict(zip(opened[0], opened[1], strict=True))
    return [found[key] for key in keys]


def map_shape_structure(func: Callable[..., Any], structure: Any) -> Any:
    """Return a structure with the results of a function for each shape (tuple or list of sizes).

    Examples
    --------
    >>> map_shape_structure(len, {"a": (None, 3), "b": [(2,), ()]})
    {'a': 2, 'b': [1, 0]}
    """
    opened = _unpack(structure)
    is_shape = isinstance(structure, (list, tuple)) and all(
        size is None or isinstance(size, int) for size in structure
    )
    if opened is None or is_shape:
        return func(structure)
    return opened[2]([map_shape_structure(func, item) for item in opened[1]])


def traverse(func: Callable[[Any], Any], structure: Any, top_down: bool = True) -> Any:
    """Return a structure in which a function may replace any container or value.

    The function is called on a container before its items, or after them with `top_down=False`. If
    the result is None, the container or value is kept, and its items are visited. If the result is
    `MAP_TO_NONE`, the container or value becomes None. Otherwise, it becomes the result.

    Examples
    --------
    >>> traverse(lambda part: sum(part) if type(part) is tuple else None, [(1, 2), {"a": (3, 4)}])
    [3, {'a': 7}]
    """
    found = func(structure) if top_down else None
    if found is None:
        opened = _unpack(structure)
        if opened is not None:
            structure = opened[2]([traverse(func, item, top_down) for item in opened[1]])
        found = None if top_down else func(structure)
    if found is None:
        return structure
    return None if found is MAP_TO_NONE else found


def lists_to_tuples(structure: Any) -> Any:
    """Return a structure with all lists replaced by tuples.

    Examples
    --------
    >>> lists_to_tuples([1, {"a": [2]}])
    (1, {'a': (2,)})
    """
    return traverse(lambda x: tuple(x) if isinstance(x, list) else None, structure, top_down=False)


# --- comparing ------------------------------------------------------------------------------------


def assert_same_structure(a: Any, b: Any, check_types: bool | None = None) -> None:
    """Raise an error if two structures have different containers. `check_types` has no effect.

    Raises
    ------
    ArgumentError
        The structures differ.
    """
    map_structure(lambda x, y: None, a, b)


def assert_same_paths(a: Any, b: Any) -> None:
    """Raise an error if the values of two structures have different paths.

    Raises
    ------
    ArgumentError
        The paths differ. A list and a tuple have the same paths.
    """
    ours, theirs = ({path for path, _ in flatten_with_path(one)} for one in (a, b))
    if ours != theirs:
        raise ArgumentError(
            f"keras.tree.assert_same_paths: expected the same paths, got only in a: "
            f"{sorted(ours - theirs, key=str)}, only in b: {sorted(theirs - ours, key=str)}."
        )

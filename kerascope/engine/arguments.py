"""The arguments of a layer's call: the inputs, and further arguments, which may be tensors too.

A call of a layer may pass tensors by position or by name: `attention(query, value, key=key)`. A
Node must store every tensor that a call depends on, or the graph would lack arrows. So the tensors
among the further arguments are inputs too: the Node lists all of them in `input_tensors`, and its
`arguments` contain an `InputPlace` instead of each tensor. When the call is repeated on other
tensors, as in a nested model, those tensors replace the places.

A layer declares nothing; the argument names of its `call` are enough. For an argument `value` that
is a tensor:

- `call(inputs, value)` receives the tensor, or the list or dict of tensors that was passed;
- `build` and `compute_output_shape` receive its shape, if they have an argument `value_shape`;
- `call` receives its mask, if it has an argument `value_mask`.

Keras 3 has the same convention. Keras 2 has a single argument, with a list of tensors.

If the inputs are a dict, their tensors are listed as well. The dict with their places is stored
among the arguments under the name `INPUTS`, and `call` receives the dict with the tensors. The last
section of this file is about models whose inputs and outputs are nested lists and dicts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.shapes import Shape
from kerascope.errors import ArgumentError, DtypeError
from kerascope.nested_values import dicts_in, flattened, found_in, replaced
from kerascope.registry import did_you_mean
from kerascope.spellings import translate

# --- a tensor or a list of tensors; names of arguments --------------------------------------------

Packing = Callable[[Any], Any]  # from a flat list to the original lists and dicts


def to_list(x: Any) -> list[Any]:
    """Return a list or tuple as a list, None as an empty list, another value in a new list."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def unpack_singleton(items: list[Any]) -> Any:
    """Return the only element of a list of length 1; return any other list unchanged."""
    return items[0] if len(items) == 1 else items


def listed(value: Any) -> tuple[list[Any], Packing]:
    """Return the items of nested lists and dicts as a list, and a function that nests them again.

    If the value is not nested, the function returns a list of length 1 as its only element, and
    any other list unchanged.
    """
    found = to_list(value)
    if any(type(x) in (list, tuple, dict) for x in found):
        return flattened(value)
    return found, unpack_singleton


def listed_shapes(shape: Any) -> list[Shape]:
    """Return a shape, or a list or dict of shapes, as a list of shapes."""
    if isinstance(shape, dict):
        return [one for key in sorted(shape) for one in listed_shapes(shape[key])]
    several = bool(shape) and isinstance(shape[0], (list, tuple))
    return list(shape) if several else [shape]


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names that are distinct: a repeated name gets a number.

    Examples
    --------
    >>> distinct_names(["acc", "acc", "loss"])
    ['acc', 'acc_1', 'loss']
    """
    distinct: dict[str, None] = {}
    for name in names:
        candidate, number = name, 1
        while candidate in distinct:
            candidate, number = f"{name}_{number}", number + 1
        distinct[candidate] = None
    return list(distinct)


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Return whether a function has a parameter of this name, apart from `**kwargs`."""
    function = getattr(function, "__func__", function)
    try:
        return name in _known_parameters(function)
    except TypeError:  # the function cannot be hashed
        return name in _parameters(function)


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)


_known_parameters = lru_cache(maxsize=4096)(_parameters)


def named_arguments(
    method: str, names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any], where: str
) -> dict[str, Any]:
    """Return the arguments of a Keras method by name, with old names translated.

    Raises
    ------
    ArgumentError
        There are too many arguments, one is given twice, or a name is unknown.
    """
    if len(args) > len(names):
        raise ArgumentError(f"{where}: expected {len(names)} arguments, got {len(args)}.")
    given = dict(zip(names, args, strict=False))
    for name, value in translate(method, kwargs).items():
        if name not in names:
            raise ArgumentError(f"{where}: unknown argument {name!r}. {did_you_mean(name, names)}")
        if name in given:
            raise ArgumentError(f"{where}: {name!r} is given by position and name. Leave one out.")
        given[name] = value
    return given


# --- tensors among the arguments of a layer's call ------------------------------------------------

INPUTS = ""


@dataclass(frozen=True)
class InputPlace:
    """Represents the input tensor number `index` of a Node among the Node's arguments."""

    index: int

    def get_config(self) -> dict[str, Any]:
        """Return the index as plain data for JSON."""
        return {"index": self.index}


def with_constants(arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace arrays by constants in the arguments, also inside lists and dicts."""
    return {name: replaced(value, np.ndarray, as_tensor) for name, value in arguments.items()}


def extract_tensors(
    arguments: dict[str, Any], first: int, is_input: Callable[[Tensor], bool]
) -> tuple[list[Tensor], dict[str, Any]]:
    """Replace tensors among the arguments by `InputPlace`s; return the tensors and new arguments.

    Parameters
    ----------
    arguments : dict
    first : int
        Index of the first new `InputPlace`, which is the number of inputs before these tensors.
    is_input : callable
        Returns whether a tensor becomes an input; other tensors remain in the arguments.
    """
    tensors: list[Tensor] = []

    def place_of(tensor: Tensor) -> Any:
        if not is_input(tensor):
            return tensor
        tensors.append(tensor)
        return InputPlace(first + len(tensors) - 1)

    return tensors, {name: replaced(value, Tensor, place_of) for name, value in arguments.items()}


def number_of_places(arguments: dict[str, Any]) -> int:
    """Return the number of a Node's input tensors that were passed as further arguments.

    They are the `InputPlace`s in `arguments`, without those under the name `INPUTS`, which belong
    to a dict of inputs.
    """
    return sum(len(found_in(arguments[x], InputPlace)) for x in arguments if x != INPUTS)


def fill_places(arguments: dict[str, Any], items: Sequence[Any]) -> dict[str, Any]:
    """Replace each `InputPlace` in the arguments by the item at its index: a tensor or a mask.

    Examples
    --------
    >>> fill_places({"value": InputPlace(1), "states": [InputPlace(2)], "training": True}, "abc")
    {'value': 'b', 'states': ['c'], 'training': True}
    """
    return {
        name: replaced(value, InputPlace, lambda place: items[place.index])
        for name, value in arguments.items()
    }


def restored_places(value: Any) -> Any:
    """Return a call's argument from a configuration, with `InputPlace`s made from their dicts."""

    def restored(entry: dict[str, Any]) -> Any:
        if entry.get("class_name") == InputPlace.__name__:
            return InputPlace(**entry["config"])
        return {key: restored_places(item) for key, item in entry.items()}

    return replaced(value, dict, restored)


def shapes_by_name(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return by name each shape that a function takes as an argument, such as `value_shape`.

    This is the shape of the tensor argument `value`. Other shapes are left out.
    """
    return {
        f"{name}_shape": replaced(value, Tensor, lambda tensor: tensor.shape)
        for name, value in arguments.items()
        if accepts(function, f"{name}_shape") and found_in(value, Tensor)
    }


def masks_by_name(
    call: Callable[..., Any], arguments: dict[str, Any], masks: Sequence[Tensor | None]
) -> dict[str, Any]:
    """Return the mask arguments of a `call`: `mask` for its inputs, `value_mask` for `value`.

    Parameters
    ----------
    call : callable
        The layer's `call`.
    arguments : dict
            The further arguments, with `InputPlace`s for tensors. A mask among them is kept.
    masks : list of (Tensor or None)
        The mask of every input tensor of the call.
    """
    own = list(masks[: len(masks) - number_of_places(arguments)])
    candidates: dict[str, Any] = {"mask": own[0] if len(own) == 1 else own}
    first_name = next(iter(inspect.signature(call).parameters), "inputs")
    candidates[f"{first_name}_mask"] = candidates["mask"]
    for name, value in arguments.items():
        if isinstance(value, InputPlace):
            candidates[f"{name}_mask"] = masks[value.index]
    return {
        name: mask
        for name, mask in candidates.items()
        if accepts(call, name) and name not in arguments and _is_given(mask)
    }


def _is_given(mask: Any) -> bool:
    return any(m is not None for m in mask) if isinstance(mask, list) else mask is not None


# --- structures: a model's inputs and outputs in nested lists and dicts, as in Keras 3 -----------
#
# A model stores its tensors in flat lists. The structure `{"b": 1, "a": [0]}` contains the index of
# each tensor in the nesting that the caller uses. None means one tensor or a flat list.


def listed_tensors(where: str, what: str, given: Any) -> tuple[Any, list[Any]]:
    """Flatten a model's tensors: return their structure (see `listed_with_structure`) and a list.

    Raises
    ------
    DtypeError
        A key of a dict is not a string, or a tensor is None.
    """
    names = [name for one in dicts_in(given) for name in one]
    if not all(isinstance(name, str) for name in names):
        raise DtypeError(f"{where}: expected strings as keys of {what} tensors, got {names}.")
    if given is not None and found_in(given, type(None)):
        raise DtypeError(f"{where}: {what} tensors to a Model must be Keras tensors, got None.")
    return listed_with_structure(given)


def listed_with_structure(given: Any) -> tuple[Any, list[Any]]:
    """Flatten nested lists and dicts: return their structure and the flat list of their items.

    The structure has the same nesting, with the index of each item in the flat list in place of the
    item. The structure of a single item or of a flat list is None.
    """
    things, put = listed(given)
    return None if put is unpack_singleton else put(range(len(things))), things


def packed(structure: Any, items: Sequence[Any]) -> Any:
    """Return the items in the nesting of `structure`, which contains the index of each item.

    Examples
    --------
    >>> packed({"b": 1, "a": [0]}, "xy")
    {'b': 'y', 'a': ['x']}
    """
    if structure is None:
        return unpack_singleton(list(items))
    return replaced(structure, int, items.__getitem__)


def names_in(structure: Any, own: list[str]) -> list[str]:
    """Return a name for each item of a nested structure: the path of keys to it, joined by "/".

    For an item of a list, the last part is its name from the list `own` instead of its position.

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
    """Yield the path of keys and positions to each index in a structure of nested lists and dicts.

    The paths are in the order of the indices: dicts are read by their sorted keys.
    """
    if isinstance(structure, int):
        yield ()
        return
    items = sorted(structure.items()) if isinstance(structure, dict) else enumerate(structure)
    yield from ((key, *way) for key, item in items for way in _ways(item))


def by_names(structure: Any, names: list[str], value: Any) -> Any:
    """Return a nested value as a dict by names, if it is nested like the structure.

    Otherwise return the value unchanged, such as a single value for all names or a flat list.
    Unknown keys are kept, because the caller checks the names.

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
            raise ArgumentError(f"Expected one each for {inside}, got one {type(item).__name__}.")
    return found


def _is_alike(structure: Any, value: Any) -> bool:
    if isinstance(structure, dict):
        return isinstance(value, dict)
    return isinstance(value, (list, tuple)) and len(value) == len(structure)

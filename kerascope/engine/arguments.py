"""Arguments: "a tensor or a list of tensors", by place or by name, and those of a layer's call.

Calls with several tensors may give them by place or by name: `attention(query, value, key=key)`. A
Node must know every tensor that a call depends on, or the graph would lack edges. So the tensors
among the further arguments of a call join its inputs: the Node lists them all in `input_tensors`,
and in its `arguments` an `InputPlace` stands where each tensor stood. When the call is run on other
tensors, as in a nested model, the places are filled with these.

A layer needs to declare nothing: it names its arguments in `call`. What the engine does with an
argument `value` that is a tensor:

- `call(inputs, value)` gets the tensor, or the list or dict of tensors, that the caller gave;
- `build` and `compute_output_shape` get its shape, if they have an argument `value_shape`;
- `call` gets its mask, if it has an argument `value_mask`.

Keras 3 has the same convention; Keras 2 knows only one argument with a list of tensors.

Inputs that come in a dict are listed, too; in the arguments, under the name `INPUTS`, stands the
dict with their places, and `call` gets it with the tensors. Last come the structures in which a
model has its inputs and outputs.
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
from kerascope.nested import dicts_in, flattened, found_in, replaced
from kerascope.registry import did_you_mean
from kerascope.spellings import translate

# --- a tensor or a list of them; names of arguments -----------------------------------------------

Packing = Callable[[Any], Any]  # from a list to what stood in lists and dicts


def to_list(x: Any) -> list[Any]:
    """Return a list or tuple as a list, None as an empty one, anything else as a list of one."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def unpack_singleton(items: list[Any]) -> Any:
    """Return the only element of a list of one, else the list."""
    return items[0] if len(items) == 1 else items


def listed(value: Any) -> tuple[list[Any], Packing]:
    """Return what is in lists and dicts as a list, and what makes of such a list the same again.

    A single list of one is taken as what it contains.
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
    """Return the names, each made distinct from those before it by a number.

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
    """Tell whether a function has a parameter of this name (not merely `**kwargs`)."""
    function = getattr(function, "__func__", function)
    try:
        return name in _known_parameters(function)
    except TypeError:  # an object that cannot be hashed
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
    """Return the arguments of a method of Keras by today's names, old ones translated.

    Raises
    ------
    ArgumentError
        There are too many, one is given twice, or one has no such name.
    """
    if len(args) > len(names):
        raise ArgumentError(f"{where}: got {len(args)} arguments by place; expected {len(names)}.")
    given = dict(zip(names, args, strict=False))
    for name, value in translate(method, kwargs).items():
        if name not in names:
            raise ArgumentError(f"{where}: unknown argument {name!r}. {did_you_mean(name, names)}")
        if name in given:
            raise ArgumentError(f"{where}: {name!r} is given by place and by name. Leave one out.")
        given[name] = value
    return given


# --- tensors among the arguments of a layer's call ------------------------------------------------

INPUTS = ""


@dataclass(frozen=True)
class InputPlace:
    """Stands in the arguments of a Node for its input tensor number `index`."""

    index: int

    def get_config(self) -> dict[str, Any]:
        """Return the index, ready for JSON."""
        return {"index": self.index}


def with_constants(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with constants in place of arrays, also in lists and dicts."""
    return {name: replaced(value, np.ndarray, as_tensor) for name, value in arguments.items()}


def taken_out(
    arguments: dict[str, Any], first: int, joins: Callable[[Tensor], bool]
) -> tuple[list[Tensor], dict[str, Any]]:
    """Return the tensors among the arguments, and the arguments with places in their stead.

    Parameters
    ----------
    arguments : dict
    first : int
        Index of the first place: how many inputs there are already.
    joins : callable
        Tells of a tensor whether it becomes an input; others stay where they are.
    """
    tensors: list[Tensor] = []

    def place_of(tensor: Tensor) -> Any:
        if not joins(tensor):
            return tensor
        tensors.append(tensor)
        return InputPlace(first + len(tensors) - 1)

    return tensors, {name: replaced(value, Tensor, place_of) for name, value in arguments.items()}


def number_of_places(arguments: dict[str, Any]) -> int:
    """Return how many inputs of a Node stand in its arguments, beside those of a dict."""
    return sum(len(found_in(arguments[x], InputPlace)) for x in arguments if x != INPUTS)


def filled(arguments: dict[str, Any], items: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments with item number `index` (a tensor, its mask) at each place.

    Examples
    --------
    >>> filled({"value": InputPlace(1), "states": [InputPlace(2)], "training": True}, "abc")
    {'value': 'b', 'states': ['c'], 'training': True}
    """
    return {
        name: replaced(value, InputPlace, lambda place: items[place.index])
        for name, value in arguments.items()
    }


def restored_places(value: Any) -> Any:
    """Return an argument that came from a configuration with its places as `InputPlace`s."""

    def restored(entry: dict[str, Any]) -> Any:
        if entry.get("class_name") == InputPlace.__name__:
            return InputPlace(**entry["config"])
        return {key: restored_places(item) for key, item in entry.items()}

    return replaced(value, dict, restored)


def shapes_by_name(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of each tensor argument for which a function has a `..._shape`."""
    return {
        f"{name}_shape": replaced(value, Tensor, lambda tensor: tensor.shape)
        for name, value in arguments.items()
        if accepts(function, f"{name}_shape") and found_in(value, Tensor)
    }


def masks_by_name(
    call: Callable[..., Any], arguments: dict[str, Any], masks: Sequence[Tensor | None]
) -> dict[str, Any]:
    """Return what `call` is told of masks: `mask` of the inputs, `value_mask` of an input `value`.

    Parameters
    ----------
    call : callable
        That of the layer.
    arguments : dict
        With places for the tensors.
    masks : list of (Tensor or None)
        Of every input tensor of the call. A mask that the caller gives himself is not replaced.
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


# --- structures: how a model's inputs and outputs stand in lists and dicts, as in Keras 3 ---------
#
# Inside, a model has them in flat lists; its structure, `{"b": 1, "a": [0]}`, says in which place
# of what the caller sees each one stands. None is that of one tensor, or of a flat list.


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

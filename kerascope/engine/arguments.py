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
dict with their places, and `call` gets it with the tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.shapes import Shape
from kerascope.errors import ArgumentError
from kerascope.nested import flattened, found_in, replaced
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

"""Checks of a function: its arguments, the input arrays of each call, and new values."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor, as_tensor, leaves
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.program.rules import RULE_NAMES
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.registry import did_you_mean


class Update(NamedTuple):
    """The event that a variable was written: the variable, and the tensor of its new value."""

    variable: Variable
    new_value: Tensor


def checked_inputs(inputs: Any) -> list[Tensor]:
    """Return the inputs of a new function, or raise if one is not a tensor."""
    if isinstance(inputs, Tensor):
        raise ArgumentError(f"K.function: expected a list of inputs, got a tensor: [{inputs}].")
    for x in inputs:
        if not isinstance(x, Tensor):
            remedy = " K.set_learning_phase has fixed the phase, so leave it out."
            raise ArgumentError(
                f"K.function: expected symbolic tensors as inputs, got {x!r}."
                f"{remedy if isinstance(x, int) else ''}"
            )
    return list(inputs)


def checked_rewrites(names: Sequence[str] | None) -> list[str] | None:
    """Return the names of rewrite rules as a list, None if not given; raise if one is unknown."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in RULE_NAMES:
            near, known = did_you_mean(str(name), RULE_NAMES), ", ".join(RULE_NAMES)
            raise ArgumentError(
                f"K.function: unknown rewrite {name!r}. {near}Use some of: {known}."
            )
    return names


@functools.lru_cache(maxsize=4096)
def fits(shape: Shape, wanted: Shape) -> bool:
    """Return whether an array of shape `shape` may be fed to a tensor of shape `wanted`."""
    return merge_shapes(shape, wanted) is not None


def as_input(value: Any, tensor: Tensor) -> np.ndarray:
    """Return an input value as an array of the tensor's dtype, contiguous in C order.

    Raises
    ------
    DtypeError
        The value cannot be converted to that dtype.
    ShapeError
        The array does not fit the shape of the tensor.
    """
    try:
        array = np.asarray(fed_array(value, tensor), dtype=tensor.dtype, order="C")
    except (TypeError, ValueError) as error:
        raise DtypeError(
            f"input '{tensor.name}': cannot be read as {tensor.dtype} ({error}).", subject=tensor
        ) from None
    if not fits(array.shape, tensor.shape):
        raise ShapeError(
            f"input '{tensor.name}': expected an array of shape {tensor.shape}, got {array.shape}.",
            subject=tensor,
        )
    return array


def checked_update(v: Any, nv: Any) -> Update:
    """Return the update of a variable; raise if the new value has another shape."""
    if not isinstance(v, Variable):
        raise DtypeError(f"updates: expected a variable, got {v!r}.", subject=v)
    new_value = cast(as_tensor(nv, like=v), v.dtype)
    if merge_shapes(v.shape, new_value.shape) is None:
        raise ShapeError(
            f"updates: expected a new value of shape {v.shape} for variable '{v.name}', "
            f"got '{new_value.name}' of shape {new_value.shape}.",
            subject=v,
        )
    return Update(v, new_value)


def pairs(updates: Iterable[tuple[Variable, Any]]) -> Iterator[tuple[Variable, Any]]:
    """Yield the (variable, new value) pairs of `updates`; raise if an item is a single tensor."""
    for update in [updates] if isinstance(updates, Tensor) else updates:
        if isinstance(update, Tensor):
            raise DtypeError(
                f"updates: expected pairs (variable, new value), got the tensor '{update.name}'. "
                f"Write updates=[(v, {update.name})], where v is the variable to update.",
                subject=update,
            )
        yield update


def default_updates(
    updates: dict[Variable, Update], outputs: list[Tensor]
) -> dict[Variable, Update]:
    """Return the default updates of variables that the graph reads and that have no other update.

    A variable with a default update changes in every call of a function that reads it. The counts
    of draws of random ops have one, for example.
    """
    needed = leaves([*outputs, *(update.new_value for update in updates.values())])
    return {
        v: checked_update(v, v.default_update)
        for v in needed
        if isinstance(v, Variable) and v.default_update is not None and v not in updates
    }


def unshared(array: Any, borrowed: dict[int, Any]) -> Any:
    """Return a computed array, or a copy of it if other objects may share its memory."""
    array = np.asarray(array)
    if array.ndim == 0:
        return array[()]
    if array.base is not None or id(array) in borrowed:
        return array.copy()
    borrowed[id(array)] = array
    return array


def new_array(update: Update, array: Any, borrowed: dict[int, Any]) -> np.ndarray:
    """Return a new value as an array that its variable can own; raise if its shape does not fit."""
    v = update.variable
    if np.shape(array) != v.shape:
        raise ShapeError(
            f"update of variable '{v.name}': expected a new value of shape {v.shape}, "
            f"got {np.shape(array)}. No variable was changed.",
            subject=v,
        )
    return np.asarray(unshared(array, borrowed))

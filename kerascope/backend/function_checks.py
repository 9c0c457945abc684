"""What a function checks: its arguments, the arrays of every call, and new values."""

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
    """The event that a new value was written: which variable, and the tensor that computed it."""

    variable: Variable
    new_value: Tensor


def checked_inputs(inputs: Any) -> list[Tensor]:
    """Return the inputs of a new function, after a check that they are tensors."""
    if isinstance(inputs, Tensor):
        raise ArgumentError(f"K.function: inputs is a tensor; expected a list. Write [{inputs}].")
    for x in inputs:
        if not isinstance(x, Tensor):
            remedy = " K.set_learning_phase has fixed the phase: leave it out."
            raise ArgumentError(
                f"K.function: inputs has {x!r}; expected symbolic tensors."
                f"{remedy if isinstance(x, int) else ''}"
            )
    return list(inputs)


def checked_rewrites(names: Sequence[str] | None) -> list[str] | None:
    """Return the names of rules, after a check that there are such."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in RULE_NAMES:
            near, known = did_you_mean(str(name), RULE_NAMES), ", ".join(RULE_NAMES)
            raise ArgumentError(
                f"K.function: rewrites has {name!r}. {near}Expected names of {known}."
            )
    return names


@functools.lru_cache(maxsize=4096)
def fits(shape: Shape, wanted: Shape) -> bool:
    """Tell whether an array of this shape may be fed to a tensor of that one."""
    return merge_shapes(shape, wanted) is not None


def as_input(value: Any, tensor: Tensor) -> np.ndarray:
    """Return what was fed as an array of the tensor's type, in C's order.

    Raises
    ------
    DtypeError
        It cannot be read as such.
    ShapeError
        It does not fit.
    """
    try:
        array = np.asarray(fed_array(value, tensor), dtype=tensor.dtype, order="C")
    except (TypeError, ValueError) as error:
        raise DtypeError(
            f"input '{tensor.name}': cannot be read as {tensor.dtype} ({error}).", subject=tensor
        ) from None
    if not fits(array.shape, tensor.shape):
        raise ShapeError(
            f"input '{tensor.name}': array of shape {array.shape}; expected {tensor.shape}.",
            subject=tensor,
        )
    return array


def checked_update(v: Any, nv: Any) -> Update:
    """Return the update of a variable; raise if its new value cannot be the variable's."""
    if not isinstance(v, Variable):
        raise DtypeError(f"updates: only a variable can be updated; got {v!r}.", subject=v)
    new_value = cast(as_tensor(nv, like=v), v.dtype)
    if merge_shapes(v.shape, new_value.shape) is None:
        raise ShapeError(
            f"updates: new value '{new_value.name}' of variable '{v.name}' has shape "
            f"{new_value.shape}; expected {v.shape}.",
            subject=v,
        )
    return Update(v, new_value)


def pairs(updates: Iterable[tuple[Variable, Any]]) -> Iterator[tuple[Variable, Any]]:
    """Yield the pairs; a new value alone does not say what it is for."""
    for update in [updates] if isinstance(updates, Tensor) else updates:
        if isinstance(update, Tensor):
            raise DtypeError(
                f"updates: '{update.name}' is one tensor; expected pairs (variable, new value). "
                f"Write updates=[(v, {update.name})] with the variable v that is to get it.",
                subject=update,
            )
        yield update


def default_updates(
    updates: dict[Variable, Update], outputs: list[Tensor]
) -> dict[Variable, Update]:
    """Return the updates that variables bring along: the draw counts of random ops."""
    needed = leaves([*outputs, *(update.new_value for update in updates.values())])
    return {
        v: checked_update(v, v.default_update)
        for v in needed
        if isinstance(v, Variable) and v.default_update is not None and v not in updates
    }


def owned(array: Any, foreign: dict[int, Any]) -> Any:
    """Return the array, or a copy if somebody else could see it change."""
    array = np.asarray(array)
    if array.ndim == 0:
        return array[()]
    if array.base is not None or id(array) in foreign:
        return array.copy()
    foreign[id(array)] = array
    return array


def new_array(update: Update, array: Any, foreign: dict[int, Any]) -> np.ndarray:
    """Return the array that a variable takes over; raise ShapeError if it does not fit."""
    v = update.variable
    if np.shape(array) != v.shape:
        raise ShapeError(
            f"update of variable '{v.name}': new value has shape {np.shape(array)}; "
            f"expected {v.shape}. No variable was changed.",
            subject=v,
        )
    return np.asarray(owned(array, foreign))

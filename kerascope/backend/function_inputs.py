"""What comes into a function: checks of its arguments, and of the arrays of every call."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.program.rules import RULES
from kerascope.backend.program.stacks import RULE as STACKS
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.registry import did_you_mean


def checked_inputs(inputs: Any) -> list[Tensor]:
    """Return the inputs of a new function, after a check that they are tensors."""
    if isinstance(inputs, Tensor):
        raise ArgumentError(f"K.function: inputs is a tensor; expected a list. Write [{inputs}].")
    for x in inputs:
        if not isinstance(x, Tensor):
            phase = (
                " K.set_learning_phase has fixed the phase: leave it out."
                if isinstance(x, int)
                else ""
            )
            raise ArgumentError(f"K.function: inputs has {x!r}; expected symbolic tensors.{phase}")
    return list(inputs)


def checked_rewrites(names: Sequence[str] | None) -> list[str] | None:
    """Return the names of rules, after a check that there are such."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    known = [*RULES, STACKS]
    for name in names:
        if name not in known:
            near = did_you_mean(str(name), known)
            raise ArgumentError(
                f"K.function: rewrites has {name!r}. {near}Expected names of {', '.join(known)}."
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

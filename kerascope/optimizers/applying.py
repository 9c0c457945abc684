"""Optimizer steps with given gradients: Keras 3's `optimizer.apply(grads, variables)`.

The rules of the optimizers make update pairs from a loss. The sum of the variables, each times a
placeholder for its gradient, is a loss with exactly these gradients. So the same rules can be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from kerascope.backend import Tensor, Variable, function, placeholder
from kerascope.backend import sum as total
from kerascope.errors import ArgumentError, DtypeError

Step = Callable[[list[Any]], Any]


def step_for(optimizer: Any, variables: Sequence[Variable]) -> Step:
    """Return a function that takes a list of gradients and writes the new values of `variables`."""
    for variable in variables:
        if not isinstance(variable, Variable):
            raise DtypeError(
                f"{type(optimizer).__name__}: expected variables, such as "
                f"model.trainable_variables, got {type(variable).__name__}."
            )
    grads = [
        placeholder(shape=v.shape, dtype=v.dtype, name=f"{v.name}/gradient") for v in variables
    ]
    loss = sum(total(v * grad) for v, grad in zip(variables, grads, strict=True))
    pairs = optimizer.get_updates(loss, list(variables))
    return function(grads, [], updates=[*pairs, (optimizer.iterations, optimizer.iterations + 1)])


def checked_gradients(optimizer: Any, grads: Iterable[Any], variables: Sequence[Any]) -> list[Any]:
    """Return gradients as arrays, each of the shape of its variable.

    Raises
    ------
    ArgumentError
        There are more or fewer gradients than variables, or one is missing or has another shape.
    DtypeError
        A gradient is a symbolic tensor.
    """
    where, given = f"{type(optimizer).__name__}.apply", list(grads)
    if len(given) != len(variables):
        raise ArgumentError(
            f"{where}: expected {len(variables)} gradients, one per variable, got {len(given)}."
        )
    for grad, variable in zip(given, variables, strict=True):
        if isinstance(grad, Tensor) and not isinstance(grad, Variable):
            raise DtypeError(
                f"{where}: expected an array as gradient of {variable.name}, got a symbol. "
                "Compute it with K.function, or give compile the loss."
            )
        if grad is None or np.shape(grad) != tuple(variable.shape):
            got = "None" if grad is None else f"an array of shape {np.shape(grad)}"
            raise ArgumentError(
                f"{where}: expected an array of shape {tuple(variable.shape)} as gradient of "
                f"{variable.name}, got {got}. Leave out variables that have no gradient."
            )
    return [np.asarray(grad) for grad in given]

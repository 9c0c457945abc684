"""The dtypes of the results of Keras 3's operations.

An array keeps its own dtype, a Python number takes the dtype of the other arguments, and several
dtypes are promoted to a common dtype (`promoted` in `backend/ops/broadcasting.py`). The table
`BEFORE` lists the operations whose results have a different dtype than their arguments, by the
names of their classes. `keras_ops` applies these rules to each of its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from kerascope.backend.graph import Constant, Tensor, as_tensor
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import floating
from kerascope.errors import ArgumentError, KerascopeError
from kerascope.nested_values import flattened, found_in, replaced
from kerascope.settings import config

__all__: list[str] = []


def own_types(arguments: Any) -> Any:
    """Return the arguments, with each float array replaced by a constant of the array's dtype.

    If the arguments include tensors, but no float64 tensor, a float64 array is converted to
    `floatx`. So a NumPy array does not turn a float32 model into float64. JAX does the same.
    """
    dtypes = {tensor.dtype for tensor in found_in(arguments, Tensor)}

    def constant(value: Any) -> Any:
        if value.dtype.kind != "f" or isinstance(value, float):
            return value
        is_stray = dtypes and value.dtype == np.float64 and "float64" not in dtypes
        return Constant(value, config.floatx if is_stray else None)

    return replaced(arguments, (np.ndarray, np.floating), constant)


@contextmanager
def explained(function: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[None]:
    """Return a context manager that turns an error of NumPy into an ArgumentError.

    The message names the operation and the dtypes and shapes of its arguments. Errors are unchanged
    if the arguments contain functions, or if the call itself is wrong (an unknown argument name).

    Raises
    ------
    ArgumentError
        The operation is not defined for these arrays.
    """
    try:
        yield
    except (TypeError, ValueError, ArithmeticError) as error:
        given = found_in((args, kwargs), (Tensor, np.ndarray))
        trace = error.__traceback__
        is_of_call = trace is None or trace.tb_next is None or trace.tb_next.tb_next is None
        takes_functions = any(map(callable, flattened([args, kwargs])[0]))
        if isinstance(error, KerascopeError) or takes_functions or is_of_call:
            raise
        types = ", ".join(f"{x.dtype} of shape {tuple(x.shape)}" for x in given) or "this number"
        raise ArgumentError(
            f"keras.ops.{function.__name__}: not defined for {types} ({error})."
        ) from error


def _summed(x: Any) -> Tensor:
    """Return a term of a sum as a tensor; bool and integers under 32 bits are cast to 32 bits."""
    x = as_tensor(x)
    if x.dtype in ("bool", "int8", "int16"):
        return cast(x, "int32")
    return cast(x, "uint32") if x.dtype in ("uint8", "uint16") else x


# The class of an operation in Keras 3 -> the conversion of its first argument.
BEFORE: dict[str, Callable[[Any], Tensor]] = {
    **dict.fromkeys(["Sum", "Prod", "Nansum", "Nanprod", "Trace"], _summed),
    **dict.fromkeys(["Cosh", "Sinh", "LogSigmoid"], floating),  # -x of unsigned numbers wraps
}


def typed(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that first converts its first argument as the Keras 3 class `kind` does.

    The table `BEFORE` contains the conversions by class name. If it does not contain `kind`,
    return `function` unchanged.
    """
    before = BEFORE.get(kind)
    if before is None:
        return function

    @wraps(function)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(before(x), *args, **kwargs)

    return call

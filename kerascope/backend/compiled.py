"""`compiled(function)`: run a Python function once on symbols, then only the graph that it left.

TensorFlow's `tf.function` does the same: the body runs once for each *signature* (the types and
ranks of the arguments, and their sizes but for the batch); every later call with such arguments
runs the compiled graph and not a line of the body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from kerascope.backend.eager import graph_mode
from kerascope.backend.function import Function, function
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.state import placeholder
from kerascope.errors import DtypeError

__all__ = ["compiled"]

Signature = tuple[tuple[str, tuple[int | None, ...]], ...]


def compiled(body: Callable[..., Any]) -> Compiled:
    """Make a function of tensors into one of arrays, traced once per signature; a decorator.

    Parameters
    ----------
    body : callable
        Takes tensors, uses K's functions and layers, returns a tensor or a list of them.

    Returns
    -------
    Compiled

    Examples
    --------
    >>> from kerascope import backend as K
    >>> @compiled
    ... def double(x):
    ...     print("the body runs")
    ...     return 2 * x
    >>> double([1.0, 2.0]).tolist(), double([3.0, 4.0, 5.0]).tolist()
    the body runs
    ([2.0, 4.0], [6.0, 8.0, 10.0])
    >>> double.traces
    1
    """
    return Compiled(body)


class Compiled:
    """What `compiled` returns.

    Attributes
    ----------
    body : callable
        The function as it was written.
    functions : dict
        The compiled `Function` for each signature.
    traces : int
        How often the body has run.
    """

    def __init__(self, body: Callable[..., Any]) -> None:
        self.body = body
        self.functions: dict[Signature, Function] = {}
        self.traces = 0
        update_wrapper(self, body, updated=())  # what a layer has as attributes stays its own

    @property
    def name(self) -> str:
        """What the body is called; a layer has a name of its own, `__name__` is a function's."""
        for attribute in ("__name__", "name"):
            if hasattr(self.body, attribute):
                return str(getattr(self.body, attribute))
        return type(self.body).__name__

    def __call__(self, *arguments: Any) -> Any:
        """Return the body's outputs for these arrays, as an array or a list of them."""
        arrays = [self._as_array(argument) for argument in arguments]
        signature = tuple((a.dtype.name, _free_batch(a.shape)) for a in arrays)
        if signature not in self.functions:
            self.functions[signature] = self._trace(signature)
        return self.functions[signature](arrays)

    def _as_array(self, argument: Any) -> np.ndarray:
        if isinstance(argument, Tensor):
            raise DtypeError(
                f"compiled {self.name}: got the tensor '{argument.name}'; expected arrays. "
                f"Call the function itself on tensors: {self.name}.body(x)."
            )
        constant = as_tensor(argument)
        return np.asarray(argument, dtype=constant.dtype)

    def _trace(self, signature: Signature) -> Function:
        with graph_mode():
            inputs = [
                placeholder(shape, dtype=dtype, name=f"argument_{index}")
                for index, (dtype, shape) in enumerate(signature)
            ]
            outputs = self.body(*inputs)
        self.traces += 1
        return function(inputs, outputs, name=self.name)


def _free_batch(shape: tuple[int, ...]) -> tuple[int | None, ...]:
    return (None, *shape[1:]) if shape else ()

"""Eager mode: ops compute at once instead of making a graph.

A layer that is called on arrays runs its body in this mode: every K function inside returns a
tensor whose numbers are known already, so `print(x)` in the middle of a `call` shows them, and
`K.get_value(x)` returns them. TensorFlow 2 works so by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kerascope.backend.function import function
from kerascope.backend.graph import (
    EAGER,
    OPERATORS,
    Constant,
    Op,
    Placeholder,
    Tensor,
    Variable,
    as_tensor,
)
from kerascope.backend.program.foreign import is_ours, on_read_only
from kerascope.backend.scopes import current_scope
from kerascope.errors import DtypeError, GraphError


def is_eager() -> bool:
    """Tell whether ops compute at once."""
    return EAGER.get() is not None


@contextmanager
def eager_mode() -> Iterator[None]:
    """Let ops compute at once inside the `with` block."""
    token = EAGER.set(_evaluate)
    try:
        yield
    finally:
        EAGER.reset(token)


@contextmanager
def graph_mode() -> Iterator[None]:
    """Let ops make a graph inside the `with` block, whatever is around it."""
    token = EAGER.set(None)
    try:
        yield
    finally:
        EAGER.reset(token)


def value_of(x: Any) -> Any:
    """Return the numbers behind a tensor now.

    Raises
    ------
    DtypeError
        It is a placeholder, which has none.
    """
    tensor = as_tensor(x)
    if isinstance(tensor, Constant):
        return tensor.value if tensor.ndim else tensor.value[()]
    if isinstance(tensor, Variable):
        return tensor.get_value(borrow=True)
    if isinstance(tensor, Placeholder):
        if tensor.default is not None:
            return np.asarray(tensor.default, tensor.dtype)
        raise DtypeError(
            f"eager mode: placeholder '{tensor.name}' has no numbers. Feed it through K.function, "
            f"or call the layer on arrays.",
            subject=tensor,
        )
    with graph_mode():
        return function([], tensor, name="eval")([])


def assign(variable: Variable, value: Any) -> Variable:
    """Replace the numbers of a variable now: what `variable.assign(value)` does.

    Raises
    ------
    GraphError
        A layer's or loss's graph is being made, in which the new value has no numbers yet.
    """
    is_symbol = isinstance(value, Tensor) and not isinstance(value, Constant)
    if is_symbol and current_scope().makes_graph and not is_eager():
        raise GraphError(
            f"variable '{variable.name}': assign writes at once, but here a graph is made, in "
            f"which the new value has no numbers yet. In a layer's call write "
            f"self.add_update(K.update(variable, new_value), inputs).",
            subject=variable,
        )
    variable.set_value(value_of(value) if isinstance(value, Tensor) else value)
    return variable


OPERATORS["assign"] = assign


def _evaluate(op: Op, tensors: list[Tensor]) -> Any:
    """Perform an op on the numbers of its inputs; what stands in for `Op.__call__`'s Apply."""
    op.infer_shape(*tensors)  # the same errors as in a graph
    with np.errstate(all="ignore"):
        perform = op.perform if is_ours(type(op)) else on_read_only(op)
        result = perform(*(value_of(x) for x in tensors))
    for x in tensors:
        if isinstance(x, Variable) and x.default_update is not None:
            x.set_value(value_of(x.default_update))
    dtype = op.infer_dtype(*tensors)
    if op.n_outputs == 1:
        return Constant(result, dtype, op.name)
    return [Constant(array, kind, op.name) for array, kind in zip(result, dtype, strict=True)]

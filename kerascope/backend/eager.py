"""Eager mode, in which ops are computed at once, and `compiled`, which runs a function as a graph.

A layer that is called on arrays runs its body in eager mode: every K function inside returns a
tensor that already has numbers, so `print(x)` in the middle of a `call` shows them, and
`K.get_value(x)` returns them. TensorFlow 2 does this by default.

A compiled function runs its body once on symbolic tensors and keeps the graph, as TensorFlow's
`tf.function` does. The body runs once for each *signature* (the dtypes and ranks of the arguments,
and their sizes except the batch size). Later calls with the same signature run only the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper, wraps
from typing import Any, TypeVar

import numpy as np

from kerascope.backend.function import Function, function
from kerascope.backend.graph import (
    ASSIGNED,
    EAGER,
    Constant,
    Op,
    Placeholder,
    Tensor,
    applies_in_order,
    as_tensor,
    graph_mode,
    is_eager,
)
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.program.custom_ops import is_builtin_class, on_read_only
from kerascope.backend.scopes import current_scope, name_scope
from kerascope.backend.variables import Variable
from kerascope.errors import DtypeError, GraphError, ShapeError
from kerascope.spellings import dialect_options

__all__ = ["compiled"]


@contextmanager
def eager_mode() -> Iterator[None]:
    """Return a context manager in which ops are computed at once."""
    token = EAGER.set(_evaluate)
    try:
        yield
    finally:
        EAGER.reset(token)


def value_of(x: Any) -> Any:
    """Return the value of a tensor as an array; a symbolic tensor is computed from its graph.

    Raises
    ------
    DtypeError
        The tensor is a placeholder without a default value.
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
        return function([], tensor, name="eval", engine="numpy")([])  # once: JAX would compile


@contextmanager
def assigning(given: dict[Variable, Tensor] | None = None) -> Iterator[dict[Variable, Tensor]]:
    """Return a context manager in which assignments to variables are collected, not written.

    Inside, ops and readers see the last assigned value, including values from an outer block or
    from the argument `given`. So a body that calls `total.assign_add(x)` and then reads `total` can
    run on numbers and write at its end, or run on symbols and yield the update pairs of a function.

    Examples
    --------
    >>> total = Variable(1.0)
    >>> with eager_mode(), assigning() as assigned:
    ...     _ = total.assign_add(2.0)
    ...     print(assigned[total].value, (total * 2).value)
    3.0 6.0
    >>> float(total)
    1.0
    """
    assigned = {**(ASSIGNED.get() or {}), **(given or {})}
    token = ASSIGNED.set(assigned)
    try:
        yield assigned
    finally:
        ASSIGNED.reset(token)


def _fitting(variable: Variable, value: Any) -> Tensor:
    """Return the value of an assignment to a variable, as a tensor of the variable's dtype.

    Raises
    ------
    ShapeError
        The value has another shape.
    """
    if not isinstance(value, Tensor) or is_eager():
        return Constant(variable._checked(value_of(value)), variable.dtype)
    sizes = zip(value.shape, variable.shape, strict=False)
    if value.ndim != variable.ndim or any(size not in (None, own) for size, own in sizes):
        raise ShapeError(
            f"variable '{variable.name}': expected a new value of shape {variable.shape}, "
            f"got {value.shape}.",
            subject=variable,
        )
    return cast(value, variable.dtype)


Written = TypeVar("Written", bound=Callable[..., Any])


def at_once_on_arrays(function: Written) -> Written:
    """Wrap a function of tensors: in dialect "3" it also takes arrays, and then returns an array.

    `keras.losses.mean_squared_error([[0.0]], [[3.0]])` is an array with the number 9.0 in dialect
    "3", and a tensor in other dialects.
    """
    names = function.__code__.co_varnames
    kinds = {name: str(kind) for name, kind in function.__annotations__.items()}

    def given_as(name: str, x: Any) -> Any:
        is_array = isinstance(x, (np.ndarray, np.generic, list, tuple))
        return as_tensor(x) if is_array and kinds.get(name, "").startswith("Tensor") else x

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not dialect_options().wraps_operations or any(isinstance(one, Tensor) for one in given):
            return function(*args, **kwargs)
        if is_eager() or current_scope().makes_graph:
            return function(*args, **kwargs)
        with eager_mode():
            named = {k: given_as(k, x) for k, x in kwargs.items()}
            return value_of(function(*map(given_as, names, args), **named))

    return call  # type: ignore[return-value]


def assign(variable: Variable, value: Any) -> Variable:
    """Replace the value of a variable: `variable.assign(value)` calls this.

    The new value is written at once. Inside an `assigning` block, it is only collected.

    Raises
    ------
    GraphError
        The graph of a layer or a loss is being built, so the new value is not computed yet.
    """
    assigned = ASSIGNED.get()
    if assigned is not None:
        value = assigned.get(value, value) if isinstance(value, Variable) else value
        assigned[variable] = _fitting(variable, value)
        return variable
    is_symbol = isinstance(value, Tensor) and not isinstance(value, Constant)
    if is_symbol and current_scope().makes_graph and not is_eager():
        raise GraphError(
            f"variable '{variable.name}': assign writes at once, but here a graph is built, in "
            f"which the new value has no numbers yet. Assign in the call of a layer, or write "
            f"self.add_update(K.update(variable, new_value), inputs) there.",
            subject=variable,
        )
    variable.set_value(value_of(value) if isinstance(value, Tensor) else value)
    return variable


def _number(kind: type) -> Callable[[Tensor], Any]:
    """Return a function that converts a tensor to a Python number of type `kind`.

    With it `float(layer.losses[0])` works after a layer was called on arrays. The function raises
    DtypeError for a tensor that depends on a placeholder.
    """

    def convert(x: Tensor) -> Any:
        leaves = [y for apply in applies_in_order([x]) for y in apply.inputs]
        if any(isinstance(y, Placeholder) and y.default is None for y in [x, *leaves]):
            raise DtypeError(
                f"tensor '{x.name}': {kind.__name__}() needs a number, and a symbolic tensor has "
                f"none before a function runs. Use K.eval(x, feeds), or operations on the tensor.",
                subject=x,
            )
        return kind(value_of(x))

    return convert


OPERATORS.update(assign=assign, float=_number(float), int=_number(int))


def _evaluate(op: Op, tensors: list[Tensor]) -> Any:
    """Perform an op on the values of its inputs. In eager mode this replaces `Op.__call__`."""
    op.infer_shape(*tensors)  # the same errors as in a graph
    with np.errstate(all="ignore"):
        perform = op.perform if is_builtin_class(type(op)) else on_read_only(op)
        result = perform(*(value_of(x) for x in tensors))
    for x in tensors:
        if isinstance(x, Variable) and x.default_update is not None:
            x.set_value(value_of(x.default_update))
    dtype = op.infer_dtype(*tensors)
    if op.n_outputs == 1:
        return Constant(result, dtype, op.name)
    return [Constant(array, kind, op.name) for array, kind in zip(result, dtype, strict=True)]


# --- compiled functions ---------------------------------------------------------------------------


Signature = tuple[tuple[str, tuple[int | None, ...]], ...]


def compiled(body: Callable[..., Any]) -> Compiled:
    """Decorate a function of tensors to take and return arrays; it is traced once per signature.

    A signature is the dtypes and the shapes of the arguments, except for the batch size.

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
    """A function of tensors that runs on arrays as a compiled graph; returned by `compiled`.

    Attributes
    ----------
    body : callable
        The original function.
    functions : dict
        The compiled `Function` for each signature: dtypes and shapes, except for the batch size.
    traces : int
        How often the body has been traced.
    """

    def __init__(self, body: Callable[..., Any]) -> None:
        self.body = body
        self.functions: dict[Signature, Function] = {}
        self.traces = 0
        update_wrapper(self, body, updated=())  # without the attributes of a layer

    @property
    def name(self) -> str:
        """The name of the function or of the layer."""
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
                f"compiled {self.name}: expected arrays, got the tensor '{argument.name}'. "
                f"Call the function itself on tensors: {self.name}.body(x)."
            )
        return np.asarray(argument, dtype=as_tensor(argument).dtype)

    def _trace(self, signature: Signature) -> Function:
        with graph_mode(), name_scope(""):
            inputs = [
                Placeholder(shape, dtype, f"argument_{index}")
                for index, (dtype, shape) in enumerate(signature)
            ]
            outputs = self.body(*inputs)
        self.traces += 1
        return function(inputs, outputs, name=self.name)


def _free_batch(shape: tuple[int, ...]) -> tuple[int | None, ...]:
    return (None, *shape[1:]) if shape else ()

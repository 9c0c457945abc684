"""The op graph: Op, Apply, and the tensors between them (which `tensor.py` defines).

An `Op` is the definition of a function, an `Apply` is one call of it, a `Tensor` is a value that a
call will produce. `y = x ** 2` computes nothing: it makes an Apply of the op Power whose inputs are
x and 2 and whose output is y. The numbers come later, from `K.function`. Theano calls the first
class Variable; for us a variable is a tensor that holds state, as in Keras.

Lessons: chapters 3 (data types) and 13 (symbolic differentiation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from kerascope.backend.dtypes import as_numbers, checked_dtype, common_dtype, is_float
from kerascope.backend.scopes import Scope, current_scope
from kerascope.backend.tensor import (
    OPERATORS,
    Constant,
    Placeholder,
    Tensor,
    Variable,
    scoped,
)
from kerascope.limits import current_budget
from kerascope.printable import printable
from kerascope.settings import config

__all__ = [
    "EAGER",
    "OPERATORS",
    "Apply",
    "Constant",
    "Op",
    "Placeholder",
    "Spec",
    "Tensor",
    "Variable",
    "as_tensor",
    "checked_dtype",
    "common_dtype",
    "constant_dtype",
    "is_float",
    "scoped",
]

# In eager mode, what computes an op at once instead of making an Apply: see `backend/eager.py`.
EAGER: ContextVar[Callable[[Op, list[Tensor]], Any] | None] = ContextVar("eager", default=None)


class Spec(NamedTuple):
    """The shape and the type of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """How much memory they take."""
        return self.size * self.dtype.itemsize


FIRST_INPUT = ((0, 0),)  # what `Op.may_share` says of most ops that share anything
Kernel = str | Callable[..., None]
_Kind = TypeVar("_Kind")
_Input = TypeVar("_Input")


@dataclass_transform(frozen_default=True)
def parametric(kind: type[_Kind]) -> type[_Kind]:
    """Make a class of ops with parameters a frozen dataclass; a decorator for our own ops.

    How they are compared and written stands in `Op` once. To make these methods anew for each of
    some sixty classes would take a good part of the time of the first import.
    """
    return dataclass(frozen=True, eq=False, repr=False)(kind)


_parameters_of: dict[type, tuple[str, ...]] = {}


def _parameter_names(op: Op) -> tuple[str, ...]:
    names = _parameters_of.get(type(op))
    if names is None:
        names = _parameters_of[type(op)] = tuple([field.name for field in fields(op)])
    return names


@dataclass(frozen=True, eq=False, repr=False)
class Op:
    """The definition of a function on tensors.

    A subclass says the four things below. One that has parameters is a frozen dataclass besides,
    whose fields they are; they are also its label in a picture.

    - `infer_shape(*inputs)`: the output's shape;
    - `infer_dtype(*inputs)`: its type; by default that of the first input;
    - `perform(*arrays)`: the numbers, with NumPy;
    - `grad(inputs, outputs, output_grads)`: one tensor for each input, or None where no gradient
      flows. They are symbolic, so a gradient is again a graph.

    An op with several outputs sets `n_outputs`; its shapes, types and arrays then come in tuples.
    One that uses an input only if its first input is true (or false) says so in `lazy`; `grad` then
    returns for that input what it gets if it is used.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> class Cube(Op):
    ...     def infer_shape(self, x): return x.shape
    ...     def perform(self, x): return x ** 3
    ...     def grad(self, inputs, outputs, output_grads):
    ...         return [3 * inputs[0] ** 2 * output_grads[0]]
    >>> x = K.variable(2.0)
    >>> float(K.eval(K.gradients(Cube()(x), x)[0]))
    12.0
    """

    n_outputs: ClassVar[int] = 1
    lazy: ClassVar[Mapping[int, bool]] = MappingProxyType({})  # input -> what the first must be
    ufunc: ClassVar[np.ufunc | None] = None  # `perform` is one call of it on the inputs
    is_view: ClassVar[bool] = False  # `perform` returns the first input's own memory
    is_pure: ClassVar[bool] = True  # the same inputs give the same output, and nothing else happens
    may_refuse: ClassVar[bool] = False  # some numbers make it raise, whatever their shapes
    needs_only_shapes: ClassVar[bool] = False  # of its inputs; their numbers do not matter
    is_exact: ClassVar[bool] = False  # each element is rounded once, from those at its place

    @property
    def name(self) -> str:
        """The op's class name in lower case with underscores: `BatchDot` is `batch_dot`."""
        return _snake_name(type(self).__name__)

    @property
    def parameters(self) -> dict[str, Any]:
        """The op's parameters by name."""
        return {name: getattr(self, name) for name in _parameter_names(self)}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, x) == getattr(other, x) for x in _parameter_names(self))

    def __hash__(self) -> int:
        return hash((type(self), *self.parameters.values()))

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__qualname__}({listed})"

    @property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Which inputs, from 0, count by their shape alone: their memory may be used again."""
        return frozenset()

    def numbers_read(self, inputs: Sequence[_Input]) -> list[_Input]:
        """Return those of the inputs, be they tensors or slots, whose numbers count."""
        by_shape = self.inputs_read_by_shape
        return [x for number, x in enumerate(inputs) if number not in by_shape]

    def may_share(
        self, inputs: Sequence[Spec], outputs: Sequence[Spec]
    ) -> Collection[tuple[int, int]]:
        """Return which outputs `perform` may leave in the memory of which inputs.

        An output that simply is an input counts, too. What is not declared lies in memory of its
        own: a compiled function may then use the input's memory again while the output is read.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and types of the arrays.

        Returns
        -------
        collection of (int, int)
            Pairs of an output and an input, both by number from 0.

        Examples
        --------
        >>> from kerascope.backend.ops.shaping import Reshape, Transpose
        >>> spec = Spec((2, 3), np.dtype("float32"))
        >>> Transpose((1, 0)).may_share([spec], [spec]), Reshape((6,)).may_share([spec], [spec])
        (((0, 0),), ((0, 0),))
        """
        return FIRST_INPUT if self.is_view else ()

    def infer_shape(self, *inputs: Any) -> Any:
        """Return the output's shape (for several outputs, a tuple of shapes)."""
        raise NotImplementedError(f"op {type(self).__name__} does not define infer_shape")

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return the output's dtype (for several outputs, a tuple of them)."""
        dtype = inputs[0].dtype if inputs else config.floatx
        return dtype if self.n_outputs == 1 else (dtype,) * self.n_outputs

    def perform(self, *arrays: Any) -> Any:
        """Compute the output array (for several outputs, a tuple); never write into an input."""
        raise NotImplementedError(f"op {type(self).__name__} does not define perform")

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel | None:
        """Return what computes into given arrays, for arrays of these shapes; None if nothing can.

        A compiled function calls it in place of `perform`, and gives it memory that it uses again
        and again. It must compute the same numbers bit for bit, and never write into an input.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and types of the arrays that will come.

        Returns
        -------
        str or callable or None
            A NumPy call as text, such as "np.dot({0}, {1}, {out})" or "np.maximum({0}, 0, {out})";
            or a function of (out, *inputs), which may own what room it needs besides. For several
            outputs, `out` is a tuple of arrays.
        """
        return None

    def leaner(self, wanted: Sequence[int]) -> Op | None:
        """Return an op that gives only some of this op's outputs, by number; None if there is none.

        A compiled function asks for it where nobody reads the others. The numbers stay the same bit
        for bit.
        """
        return None

    def grad(
        self, inputs: list[Tensor], outputs: list[Tensor], output_grads: list[Tensor]
    ) -> Sequence[Tensor | None]:
        """Return d loss / d input for each input, from d loss / d output; None where none flows."""
        return [None] * len(inputs)

    def __call__(self, *inputs: Any, name: str | None = None) -> Any:
        """Apply the op: make an Apply and return its output tensor (or list of them)."""
        tensors = [as_tensor(x) for x in inputs]
        evaluate = EAGER.get()
        if evaluate is not None:
            return evaluate(self, tensors)
        outputs = Apply(self, tensors, name).outputs
        return outputs[0] if self.n_outputs == 1 else outputs


class Apply:
    """One call of an op.

    Attributes
    ----------
    op : Op
    inputs, outputs : list of Tensor
    scope : Scope
        Where it was made: the layer's name and the line of the user's script.
    """

    __slots__ = ("inputs", "op", "outputs", "scope")

    def __init__(self, op: Op, inputs: list[Tensor], name: str | None = None) -> None:
        budget = current_budget()
        if budget is not None:
            budget.take_parts(1, f"at op {op.name}")
        self.op = op
        self.inputs = inputs
        self.scope: Scope = current_scope()
        full_name = self.scope.join(name or op.name)
        shape, dtype = op.infer_shape(*inputs), op.infer_dtype(*inputs)
        if op.n_outputs == 1:
            self.outputs = [Tensor(shape, dtype, full_name, self)]
        else:
            self.outputs = [
                Tensor(*facts, f"{full_name}:{index}", self, index)
                for index, facts in enumerate(zip(shape, dtype, strict=True))
            ]

    @property
    def name(self) -> str:
        """The scoped name of the call: `dense_1/dot`."""
        return self.outputs[0].name.partition(":")[0]

    def __repr__(self) -> str:
        listed = ", ".join(x.name for x in self.inputs)
        return printable(f"{self.op.name}({listed}) -> {self.outputs[0].name}")


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return `value` if it is a tensor, else a Constant of it; a list of tensors is stacked.

    A Python number, or an array of floats, takes the float type of `like` (by default
    `config.floatx`), so that `x * 2` stays what x is and a stray float64 does not turn a whole
    graph into float64.

    Raises
    ------
    DtypeError
        `value` is neither a tensor nor numbers.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(x, Tensor) for x in value):
        stacked: Tensor = OPERATORS["stack"](value)
        return stacked
    array = as_numbers(value, "tensor")
    return Constant(array, constant_dtype(value, array, like))


def constant_dtype(value: Any, array: np.ndarray, like: Tensor | None) -> str:
    """Return the dtype that a plain value takes beside the tensor `like`."""
    wanted = like.dtype if like is not None else config.floatx
    if array.dtype.kind == "f":
        return wanted if is_float(wanted) else config.floatx
    if isinstance(value, (int, float)) and not isinstance(value, bool) and like is not None:
        return like.dtype if like.dtype != "bool" else "int32"
    return array.dtype.name


_snake_names: dict[str, str] = {}


def _snake_name(name: str) -> str:
    if name not in _snake_names:
        letters = [f"_{c.lower()}" if c.isupper() else c for c in name]
        _snake_names[name] = "".join(letters).lstrip("_")
    return _snake_names[name]

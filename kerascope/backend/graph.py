"""The op graph: Tensor, Op and Apply, and the order in which a graph is computed.

A `Tensor` is a value that is not computed yet, an `Op` is the definition of a function, and an
`Apply` is one call of it. `y = x ** 2` computes nothing: it makes an Apply of the op Power, whose
inputs are x and 2 and whose output is y. The numbers come later, from `K.function`.

There are four kinds of tensors. A placeholder gets its value at each call of a function, a constant
never changes, a variable holds state (see `variables.py`), and every other tensor is an output of
an Apply, its `owner`. Theano has the same classes and calls the tensors variables; in Keras 3 a
tensor without numbers is a `KerasTensor`.

Tensors hash and compare by identity, so `x in inputs` is true for this very tensor only. `K.equal`
compares values.

Read the tensors first, then Op and Apply, then the walks over the graph that they form.

Lessons: chapters 2 (the backend), 3 (data types) and 13 (symbolic differentiation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import cache
from sys import _getframe
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike

from kerascope.backend.arrays import name_of_numbers, with_few_numbers, with_numbers
from kerascope.backend.dtypes import as_numbers, constant_dtype
from kerascope.backend.op_hints import OpHints
from kerascope.backend.operators import OPERATORS, Operators
from kerascope.backend.scopes import Scope, current_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.errors import DtypeError, ShapeError
from kerascope.limits import count_op
from kerascope.printable import printable
from kerascope.settings import config
from kerascope.user_frames import frames_up_from

# --- tensors --------------------------------------------------------------------------------------


class Tensor(Operators):
    """A symbolic value: its shape and dtype are known, its elements are not.

    Parameters
    ----------
    shape : tuple of int or None
        None for an axis whose size is known only when a function is called.
    dtype : str
        The NumPy name of the element type.
    name : str
        For messages and pictures; need not be unique.
    owner : Apply, optional
        The call that computes the tensor; None for placeholders, variables and constants.
    index : int
        The position among the owner's outputs.

    Attributes
    ----------
    _keras_history : KerasHistory or None
        (layer, node_index, tensor_index), set by the layer call that made the tensor.
    _keras_mask : Tensor or None
        The mask of a tensor without a history.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y = K.placeholder((None, 3), name="x") + 1
    >>> y.shape, y.dtype, y.owner
    ((None, 3), 'float32', add(x, 1) -> add)
    """

    __slots__ = (
        "__weakref__",
        "_keras_history",
        "_keras_mask",
        "_uses_learning_phase",
        "dtype",
        "index",
        "name",
        "owner",
        "shape",
    )

    def __init__(
        self,
        shape: Iterable[int | None],
        dtype: str,
        name: str,
        owner: Apply | None = None,
        index: int = 0,
    ) -> None:
        self.shape: Shape = as_shape(shape)
        self.dtype = dtype
        self.name = name
        self.owner = owner
        self.index = index
        self._keras_history: Any = None
        self._keras_mask: Tensor | None = None
        self._uses_learning_phase: bool = owner is not None and any(
            x._uses_learning_phase for x in owner.inputs
        )

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def _keras_shape(self) -> Shape:
        return self.shape

    def get_shape(self) -> Shape:
        """Return the shape, as in TensorFlow."""
        return self.shape

    def __repr__(self) -> str:
        return printable(self.name)

    def __bool__(self) -> bool:
        raise DtypeError(
            f"tensor '{self.name}': a symbolic tensor is neither true nor false. "
            f"Use K.switch for a choice inside the graph.",
            subject=self,
        )

    def __iter__(self) -> Any:
        raise DtypeError(
            f"tensor '{self.name}': a symbolic tensor of shape {self.shape} cannot be iterated. "
            f"Index it: x[0], x[1].",
            subject=self,
        )

    def __len__(self) -> int:
        raise DtypeError(
            f"tensor '{self.name}': a symbolic tensor has no len(). Use K.int_shape(x)[0].",
            subject=self,
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise DtypeError(
            f"tensor '{self.name}': a symbolic tensor has no numbers, so NumPy cannot use it. "
            f"Use the K function instead, or K.eval(x).",
            subject=self,
        )


class Placeholder(Tensor):
    """A tensor that gets its value at each call of a function; `Input` makes one.

    Parameters
    ----------
    shape, dtype, name
        As for `Tensor`.
    default : float or array, optional
        The value in functions that do not have the placeholder among their inputs. The learning
        phase and sample weights have defaults.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder((2,), name="x")
    >>> K.function([x], x + 1)([[1.0, 2.0]]).tolist()
    [2.0, 3.0]
    """

    __slots__ = ("default",)

    def __init__(
        self, shape: Iterable[int | None], dtype: str, name: str, default: Any = None
    ) -> None:
        super().__init__(shape, dtype, name)
        self.default = default


class Constant(Tensor):
    """A tensor whose value is fixed.

    Parameters
    ----------
    value : array_like
        The value is copied, and the copy is read-only.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.constant([1.0, 2.0]).value.tolist()
    [1.0, 2.0]
    """

    __slots__ = ("value",)

    def __init__(self, value: Any, dtype: str | None = None, name: str | None = None) -> None:
        array = np.array(value, dtype=dtype, order="C")
        if array.dtype.kind not in "fiub":
            raise DtypeError(
                f"constant: expected numbers or booleans, got {value!r} of dtype {array.dtype}."
            )
        array.flags.writeable = False
        self.value = array
        super().__init__(array.shape, array.dtype.name, name or name_of_numbers(array))

    def __str__(self) -> str:
        """Return name, shape and elements as text, which `print` shows in eager mode."""
        return with_numbers(printable(self.name), self.value)

    def __repr__(self) -> str:
        """Return name, shape and, if there are few, elements on one line, for messages."""
        return with_few_numbers(self.name, self.value)

    def __bool__(self) -> bool:
        """Return whether a single number is not 0: `if K.sum(x) > 0` works in eager mode."""
        if self.value.size == 1:
            return bool(self.value)
        raise ShapeError(
            f"tensor '{self.name}': {self.value.size} numbers, of shape {self.shape}, are neither "
            f"true nor false together. Use K.all or K.any.",
            subject=self,
        )


TensorLike = Tensor | ArrayLike  # what `as_tensor` accepts


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return `value` as a tensor: numbers become a Constant, a list of tensors is stacked.

    A Python float or an array of floats takes the float type of `like` (by default
    `config.floatx`). So a stray float64 does not turn a whole graph into float64. A Python integer
    takes the type of a float `like`, as in `x * 2`; otherwise it is int32, unless it is too large.

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
    return Constant(array, constant_dtype(value, array, None if like is None else like.dtype))


# --- ops and their calls --------------------------------------------------------------------------


# In eager mode, the function that computes an op at once, without an Apply: see `eager.py`.
EAGER: ContextVar[Callable[[Op, list[Tensor]], Any] | None] = ContextVar("eager", default=None)

# Values assigned to variables that are not written yet: see `eager.assigning`.
ASSIGNED: ContextVar[dict[Any, Tensor] | None] = ContextVar("assigned", default=None)

_Kind = TypeVar("_Kind")


@dataclass(frozen=True, eq=False, repr=False)
class Op(OpHints):
    """The definition of a function on tensors.

    A subclass defines `infer_shape` and `perform`; the other methods have defaults. An op with
    parameters is decorated with `parametric`, with the parameters as fields, which pictures show.

    - `infer_shape(*inputs)`: the output's shape;
    - `infer_dtype(*inputs)`: its type; by default that of the first input;
    - `perform(*arrays)`: the output array, computed with NumPy;
    - `grad(inputs, outputs, output_grads)`: one tensor for each input, or None where no gradient
      flows, which is the default. The tensors are symbolic, so a gradient is again a graph.

    Optional hints for compiled functions have defaults in the base class, `OpHints`.

    An op with several outputs sets `n_outputs`; its shapes, dtypes and arrays are then tuples.
    An op that uses an input only if its first input is true declares that in `lazy`: the switch has
    `{1: True, 2: False}`, because it uses input 1 if input 0 is true, and input 2 if it is false.
    For such an input, `grad` returns the gradient for the case that the input is used.

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
    lazy: ClassVar[Mapping[int, bool]] = MappingProxyType({})  # position -> value of the first

    @property
    def name(self) -> str:
        """The op's class name in lower case with underscores: `BatchDot` is `batch_dot`."""
        return _snake_name(type(self).__name__)

    @property
    def parameters(self) -> dict[str, Any]:
        """The op's parameters by name."""
        return {name: getattr(self, name) for name in _parameter_names(type(self))}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, x) == getattr(other, x) for x in _parameter_names(type(self)))

    def __hash__(self) -> int:
        return hash((type(self), *self.parameters.values()))

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__qualname__}({listed})"

    def infer_shape(self, *inputs: Any) -> Any:
        """Return the output's shape (for several outputs, a tuple of shapes)."""
        raise NotImplementedError(f"Op {type(self).__name__} does not define infer_shape. Add it.")

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return the output's dtype (for several outputs, a tuple of them)."""
        dtype = inputs[0].dtype if inputs else config.floatx
        return dtype if self.n_outputs == 1 else (dtype,) * self.n_outputs

    def perform(self, *arrays: Any) -> Any:
        """Compute the output array (for several outputs, a tuple); never write into an input."""
        raise NotImplementedError(f"Op {type(self).__name__} does not define perform. Add it.")

    def grad(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], output_grads: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        """Return d loss / d input for each input, from d loss / d output.

        Parameters
        ----------
        inputs, outputs : list of Tensor
            The tensors of one call of the op.
        output_grads : list of Tensor
            d loss / d output for each output, of its shape.

        Returns
        -------
        list of Tensor or None
            One for each input, of its shape; None where no gradient flows.
        """
        return [None] * len(inputs)

    def __call__(self, *inputs: Any, name: str | None = None) -> Any:
        """Make an Apply and return its output tensor or list; in eager mode, compute a Constant."""
        tensors = [as_tensor(x) for x in inputs]
        assigned = ASSIGNED.get()
        if assigned:
            tensors = [assigned.get(x, x) for x in tensors]
        evaluate = EAGER.get()
        if evaluate is not None:
            return evaluate(self, tensors)
        outputs = Apply(self, tensors, name).outputs
        return outputs[0] if self.n_outputs == 1 else outputs


@cache
def _snake_name(name: str) -> str:
    return "".join([f"_{c.lower()}" if c.isupper() else c for c in name]).lstrip("_")


_parameter_names: Callable[[Any], tuple[str, ...]] = cache(
    lambda kind: tuple([field.name for field in fields(kind)])
)


@dataclass_transform(frozen_default=True)
def parametric(kind: type[_Kind]) -> type[_Kind]:
    """Make an op class a frozen dataclass that keeps the comparison and the repr of `Op`."""
    return dataclass(frozen=True, eq=False, repr=False)(kind)


class ShapeOfFirst(Op):
    """An op whose result has the shape of its first input."""

    def infer_shape(self, x: Tensor, *others: Tensor) -> Shape:
        """Return the shape of the first input."""
        return x.shape


class ShapeOfLast(Op):
    """An op whose result has the shape of its last input; often it uses only this input's shape."""

    def infer_shape(self, *inputs: Tensor) -> Shape:
        """Return the shape of the last input."""
        return inputs[-1].shape


class Apply:
    """One call of an op.

    Its inputs exist before it, and it makes its outputs itself. So no op can depend on its own
    output, and an op graph has no cycle.

    Attributes
    ----------
    op : Op
    inputs, outputs : list of Tensor
    scope : Scope
        The scope that was open, with names such as the layer's.
    frames : Frames
        The lines of the user's code that led to the call: a function, a layer's `call`, a loss.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y = K.exp(K.placeholder((3,), name="x"))
    >>> y.owner, y.owner.op.name, y.owner.inputs
    (exp(x) -> exp, 'exp', [x])
    """

    __slots__ = ("frames", "inputs", "op", "outputs", "scope")

    def __init__(self, op: Op, inputs: list[Tensor], name: str | None = None) -> None:
        self.op = op
        self.inputs = inputs
        count_op(op)  # the number of ops is limited for models from files
        self.scope: Scope = current_scope()
        self.frames = frames_up_from(_getframe(2))  # skip `Op.__call__`
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


def is_eager() -> bool:
    """Return whether ops are computed at once (eager mode)."""
    return EAGER.get() is not None


@contextmanager
def graph_mode() -> Iterator[None]:
    """Return a context manager in which K functions build a graph, also in eager mode."""
    token = EAGER.set(None)
    try:
        yield
    finally:
        EAGER.reset(token)


# --- walks over the graph -------------------------------------------------------------------------
#
# Each is a loop over an explicit stack: a chain of 30,000 ops needs no recursion.


def applies_in_order(outputs: Iterable[Tensor], fed: Iterable[Tensor] = ()) -> list[Apply]:
    """Return every Apply that `outputs` need, each after the Applies that it needs itself.

    The search stops at the tensors `fed`, whose values are given. The order is that of a
    depth-first search through the inputs from left to right, so it is the same in every process.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(3,))
    >>> [apply.op.name for apply in applies_in_order([K.exp(x) + K.square(x)])]
    ['exp', 'square', 'add']
    """
    ordered: list[Apply] = []
    seen: set[Apply] = set()
    given = set(fed)
    for output in outputs:
        if output.owner is None or output.owner in seen or output in given:
            continue
        seen.add(output.owner)
        stack = [(output.owner, iter(output.owner.inputs))]
        while stack:
            apply, inputs = stack[-1]
            for x in inputs:
                if x.owner is not None and x.owner not in seen and x not in given:
                    seen.add(x.owner)
                    stack.append((x.owner, iter(x.owner.inputs)))
                    break
            else:
                ordered.append(apply)
                stack.pop()
    return ordered


def leaves(outputs: Iterable[Tensor]) -> list[Tensor]:
    """Return the placeholders, variables and constants that `outputs` need, in order of use."""
    outputs = list(outputs)
    found = dict.fromkeys(x for x in outputs if x.owner is None)
    for apply in applies_in_order(outputs):
        found.update(dict.fromkeys(x for x in apply.inputs if x.owner is None))
    return list(found)


def applies_between(wrt: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Apply]:
    """Return the calls through which `outputs` depend on tensors `wrt`, in order of computation."""
    dependent: set[Tensor] = set(wrt)
    between = []
    for apply in applies_in_order(outputs):
        if any(x in dependent for x in apply.inputs):
            dependent.update(apply.outputs)
            between.append(apply)
    return between

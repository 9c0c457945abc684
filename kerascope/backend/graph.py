"""The op graph: Tensor, Apply and Op, and the three kinds of tensor that no op computes.

An `Op` is the definition of a function, an `Apply` is one call of it, a `Tensor` is a value that a
call will produce. `y = x ** 2` computes nothing: it makes an Apply of the op Power whose inputs are
x and 2 and whose output is y. The numbers come later, from `K.function`. Theano calls the first
class Variable; for us a variable is a tensor that holds state, as in Keras.

Tensors hash and compare by identity: `x in inputs` asks for this very tensor. `K.equal` compares
values.

Lessons: chapters 3 (data types) and 13 (symbolic differentiation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from kerascope.backend.scopes import Scope, current_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.settings import config

# What Python's operators mean on tensors: `ops/` fills this table, so that this file needs none of
# its ops.
OPERATORS: dict[str, Callable[..., Any]] = {}

# In eager mode, what computes an op at once instead of making an Apply: see `backend/eager.py`.
EAGER: ContextVar[Callable[[Op, list[Tensor]], Any] | None] = ContextVar("eager", default=None)


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Tensor, *others: Any) -> Any:
        if reflected:
            return OPERATORS[name](*others, self)
        return OPERATORS[name](self, *others)

    method.__name__ = f"__{'r' if reflected else ''}{name}__"
    return method


class Tensor:
    """A symbolic value: its shape and type are known, its numbers are not.

    Parameters
    ----------
    shape : tuple of int or None
        None marks a size that only a run will tell.
    dtype : str
        NumPy's name of the element type.
    name : str
        What a person reads; need not be unique.
    owner : Apply, optional
        The call that computes it.
    index : int
        Which of the owner's outputs it is.

    Attributes
    ----------
    _keras_history : KerasHistory or None
        (layer, node_index, tensor_index), set by the layer that made it.
    _keras_mask : Tensor or None
        Mask that goes with a tensor that has no history.
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
    __array_priority__ = 1000  # np.ones(3) * tensor asks the tensor

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
        """Return the shape; TensorFlow's spelling."""
        return self.shape

    def __repr__(self) -> str:
        return self.name

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
            f"tensor '{self.name}': a symbolic tensor holds no numbers, so NumPy cannot use it. "
            f"Use the function of K, or K.eval(x).",
            subject=self,
        )

    __array_ufunc__ = None

    __add__ = _operator("add")
    __radd__ = _operator("add", reflected=True)
    __sub__ = _operator("sub")
    __rsub__ = _operator("sub", reflected=True)
    __mul__ = _operator("mul")
    __rmul__ = _operator("mul", reflected=True)
    __truediv__ = _operator("truediv")
    __rtruediv__ = _operator("truediv", reflected=True)
    __pow__ = _operator("pow")
    __rpow__ = _operator("pow", reflected=True)
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", reflected=True)
    __neg__ = _operator("neg")
    __abs__ = _operator("abs")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __getitem__ = _operator("getitem")


class Placeholder(Tensor):
    """A tensor that is fed at each call of a function.

    Parameters
    ----------
    shape, dtype, name
        As for `Tensor`.
    default : float, optional
        Value for the functions that do not feed it; only the learning phase has one.
    """

    __slots__ = ("default",)

    def __init__(
        self, shape: Iterable[int | None], dtype: str, name: str, default: float | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        self.default = default


class Constant(Tensor):
    """A tensor whose value is fixed.

    Parameters
    ----------
    value : array_like
        Copied, and never written again.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any, dtype: str | None = None, name: str | None = None) -> None:
        array = np.array(value, dtype=dtype)
        if array.dtype.kind not in "fiub":
            raise DtypeError(
                f"constant: {value!r} is of type {array.dtype}; expected numbers or booleans."
            )
        array.flags.writeable = False
        self.value = array
        super().__init__(array.shape, array.dtype.name, name or _short(array))


class Variable(Tensor):
    """A tensor that holds state: only `set_value` and a function's updates change it.

    Parameters
    ----------
    value : array_like
        Initial value; copied.
    dtype : str, optional
        Default `config.floatx`.
    name : str, optional
        What a person reads.
    constraint : callable, optional
        Kept for the optimizer, which applies it to each new value.

    Attributes
    ----------
    default_update : Tensor or None
        New value that every function which uses the variable gives it, unless its updates say
        otherwise: a random op's count of draws moves on so. (Theano's shared variables have the
        same.)
    """

    __slots__ = ("_value", "constraint", "default_update")

    def __init__(
        self,
        value: Any,
        dtype: str | None = None,
        name: str | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        dtype = checked_dtype(dtype or config.floatx)
        self._value = np.array(value, dtype=dtype)
        self.constraint = constraint
        self.default_update: Tensor | None = None
        super().__init__(self._value.shape, dtype, name or scoped("variable"))

    def get_value(self, borrow: bool = False) -> np.ndarray:
        """Return the numbers: a copy, or with `borrow` the array itself, to be read only."""
        return self._value if borrow else self._value.copy()

    def set_value(self, value: Any) -> None:
        """Replace the numbers.

        Raises
        ------
        ShapeError
            `value` has another shape; the variable keeps its own.
        """
        array = np.array(value, dtype=self.dtype)
        if array.shape != self._value.shape:
            raise ShapeError(
                f"variable '{self.name}': new value has shape {array.shape}; "
                f"expected {self._value.shape}.",
                subject=self,
            )
        self._value = array

    def commit(self, array: np.ndarray) -> None:
        """Take over an array that a function has just computed and nobody else will write."""
        self._value = array


@dataclass(frozen=True)
class Op:
    """The definition of a function on tensors.

    A subclass is a frozen dataclass whose fields are the op's parameters (they are its label in a
    picture) and says:

    - `infer_shape(*inputs)`: the output's shape;
    - `infer_dtype(*inputs)`: its type; by default that of the first input;
    - `perform(*arrays)`: the numbers, with NumPy;
    - `grad(inputs, outputs, output_grads)`: one tensor for each input, or None where no gradient
      flows. They are symbolic, so a gradient is again a graph.

    An op with several outputs sets `n_outputs`; its shapes, types and arrays then come in tuples.

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

    @property
    def name(self) -> str:
        """The op's class name in lower case with underscores: `BatchDot` is `batch_dot`."""
        return _snake_name(type(self).__name__)

    @property
    def parameters(self) -> dict[str, Any]:
        """The op's parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

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
        return f"{self.op.name}({listed}) -> {self.outputs[0].name}"


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return `value` if it is a tensor, else a Constant of it.

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
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DtypeError(f"tensor: {value!r} is no rectangular array ({error}).") from None
    if array.dtype.kind not in "fiub":
        raise DtypeError(
            f"tensor: cannot make one from {value!r} of type {type(value).__name__}; "
            f"expected a tensor, an array or a number."
        )
    return Constant(array, constant_dtype(value, array, like))


def constant_dtype(value: Any, array: np.ndarray, like: Tensor | None) -> str:
    """Return the dtype that a plain value takes beside the tensor `like`."""
    wanted = like.dtype if like is not None else config.floatx
    if array.dtype.kind == "f":
        return wanted if is_float(wanted) else config.floatx
    if isinstance(value, (int, float)) and not isinstance(value, bool) and like is not None:
        return like.dtype if like.dtype != "bool" else "int32"
    return array.dtype.name


def is_float(dtype: str) -> bool:
    """Tell whether a dtype can carry a gradient."""
    return dtype.startswith(("float", "bfloat"))


def common_dtype(*dtypes: str) -> str:
    """Return the type of an operation on these types: floats win over integers of any width.

    Examples
    --------
    >>> common_dtype("float32", "int64")
    'float32'
    """
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return np.result_type(*(floats or dtypes)).name


def checked_dtype(dtype: Any) -> str:
    """Return NumPy's name of a type.

    Raises
    ------
    DtypeError
        It is no type of numbers or booleans.
    """
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "fiub":
        raise DtypeError(f"dtype: {dtype!r} is no numeric type; expected 'float32', 'int32', ...")
    return found.name


def placeholder_shape(shape: Iterable[int | None] | None, ndim: int | None) -> Shape:
    """Return the shape of a placeholder from either argument.

    Raises
    ------
    ArgumentError
        Neither was given.
    """
    if shape is not None:
        return as_shape(shape)
    if ndim is None:
        raise ArgumentError("K.placeholder: expected shape=(None, 20) or ndim=2; got neither.")
    return (None,) * ndim


def scoped(name: str) -> str:
    """Return `name` behind the names of the open scopes, unless it starts with them."""
    return current_scope().join(name)


def _short(array: np.ndarray) -> str:
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    return f"constant{list(array.shape)}"


_snake_names: dict[str, str] = {}


def _snake_name(name: str) -> str:
    if name not in _snake_names:
        letters = [f"_{c.lower()}" if c.isupper() else c for c in name]
        _snake_names[name] = "".join(letters).lstrip("_")
    return _snake_names[name]

"""The op graph: Op, Apply, and the tensors between them.

An `Op` is the definition of a function, an `Apply` is one call of it, a `Tensor` is a value that a
call will produce. `y = x ** 2` computes nothing: it makes an Apply of the op Power whose inputs are
x and 2 and whose output is y. The numbers come later, from `K.function`. Theano calls the first
class Variable; for us a variable is a tensor that holds state, as in Keras: a placeholder is fed at
each call of a function, a constant is fixed, a variable holds state, and all other tensors are
outputs of an Apply.

Tensors hash and compare by identity: `x in inputs` asks for this very tensor. `K.equal` compares
values.

Read the tensors first, then Op and Apply, then the walks over the graph that they make; before them
stand the names of element types, and how a tensor's numbers are written.

Lessons: chapters 3 (data types) and 13 (symbolic differentiation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from operator import setitem
from reprlib import repr as shortened
from sys import _getframe
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike

from kerascope.backend.atomic import LOCKS, Call, lend, move, set_values, take_over
from kerascope.backend.scopes import Scope, current_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.callers import frames_up_from
from kerascope.errors import DtypeError, GraphError, ShapeError
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


# --- how a constant is written: in eager mode that is every tensor --------------------------------


MOST_IN_A_LINE = 12


def name_of_numbers(array: np.ndarray) -> str:
    """Return what a constant is called that nobody gave a name.

    Examples
    --------
    >>> name_of_numbers(np.array(2.5)), name_of_numbers(np.zeros((2, 3)))
    ('2.5', 'constant[2, 3]')
    """
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    return f"constant{list(array.shape)}"


def with_numbers(name: str, array: np.ndarray) -> str:
    """Return name, shape and numbers; of very many numbers the first and the last, as NumPy does.

    Examples
    --------
    >>> print(with_numbers("sum", np.array(6.0)))
    <sum: 6.0>
    >>> print(with_numbers("mul", np.arange(4).reshape(2, 2)))
    <mul (2, 2): [[0 1]
                  [2 3]]>
    """
    if array.ndim == 0:
        return name if name == name_of_numbers(array) else f"<{name}: {array[()]!s}>"
    begin = f"{_begin(name, array)}: "
    return f"{begin}{np.array2string(array, prefix=begin)}>"


def with_few_numbers(name: str, array: np.ndarray) -> str:
    """Return the same on one line; the numbers are left out where there are many.

    Examples
    --------
    >>> with_few_numbers("mul", np.arange(4).reshape(2, 2))
    '<mul (2, 2): [[0 1] [2 3]]>'
    >>> with_few_numbers("mul", np.zeros((20, 30)))
    '<mul (20, 30)>'
    """
    if array.size > MOST_IN_A_LINE:
        return f"{_begin(name, array)}>"
    return " ".join(with_numbers(name, array).split())


def _begin(name: str, array: np.ndarray) -> str:
    named = "constant" if name == name_of_numbers(array) else name
    return f"<{named} {array.shape}"


# --- names of element types -----------------------------------------------------------------------


def is_float(dtype: str) -> bool:
    """Tell whether a dtype can carry a gradient."""
    return dtype.startswith(("float", "bfloat"))


@lru_cache  # asked for every op of a graph, with few different types
def common_dtype(*dtypes: str) -> str:
    """Return the type of an operation on these types: floats win over integers of any width.

    Examples
    --------
    >>> common_dtype("float32", "int64")
    'float32'
    """
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return np.result_type(*(floats or dtypes)).name


_NAMES = frozenset({"float16", "float32", "float64", "int32", "int64", "uint8", "bool"})


def checked_dtype(dtype: Any) -> str:
    """Return NumPy's name of a type.

    Raises
    ------
    DtypeError
        It is no type of numbers or booleans.
    """
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    try:
        found = np.dtype(object if dtype is None else dtype)  # NumPy's None is float64
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "fiub":
        remedy = " StringLookup and TextVectorization turn text into numbers before a model."
        raise DtypeError(
            f"dtype: {dtype!r} is no numeric type; expected 'float32', 'int32', ..."
            f"{remedy if dtype == 'string' else ''}"
        )
    return found.name


# What NumPy would read as a number if it stands in an array of objects, and is none.
_NO_NUMBERS = (str, bytes, type(None), np.complexfloating, np.datetime64, np.timedelta64)


def as_numbers(value: Any, where: str, dtype: str = "float64") -> np.ndarray:
    """Return numbers or booleans as an array, of their own type.

    Numbers that NumPy has no type for, as `Decimal`, `10**30` and bfloat16, become `dtype`.

    Raises
    ------
    DtypeError
        They are something else, or lists of different lengths.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DtypeError(
            f"{where}: {shortened(value)} is no rectangular array ({error})."
        ) from None
    if array.dtype.kind in "fiub":
        return array
    try:
        return _converted(array, dtype)
    except (TypeError, ValueError, OverflowError):
        raise DtypeError(
            f"{where}: {shortened(value)}, of type {type(value).__name__}, cannot become {dtype}; "
            f"expected a tensor, an array or a number."
        ) from None


def _converted(array: np.ndarray, dtype: str) -> np.ndarray:
    """Return objects that stand for numbers, or numbers of a type from outside NumPy, as `dtype`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        They stand for none, or for one that `dtype` has no room for.
    """
    is_foreign = array.dtype.kind == "V" and array.dtype.isbuiltin == 2  # ml_dtypes' bfloat16
    is_objects = array.dtype.kind == "O" and not any(isinstance(x, _NO_NUMBERS) for x in array.flat)
    if not is_foreign and not is_objects:
        raise TypeError("no numbers")
    array.astype("float64")  # "bool" would take everything
    return array.astype(dtype)


# --- tensors --------------------------------------------------------------------------------------


# What Python's operators mean on tensors: `ops/` fills this table, so that this file needs none of
# its ops.
OPERATORS: dict[str, Callable[..., Any]] = {}


# NumPy's names of the same operators.
_UFUNCS = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow"},
    **{"matmul": "matmul", "negative": "neg", "absolute": "abs"},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
    **{"equal": "eq", "not_equal": "ne", "floor_divide": "floordiv", "remainder": "mod"},
    **{"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "invert": "invert"},
}
# What calls such an operator along an axis: np.sum(x) reaches a tensor as np.add.reduce(x).
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"} | {
    "logical_and": "all",
    "logical_or": "any",
}


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
            f"tensor '{self.name}': a symbolic tensor holds no numbers, so NumPy cannot use it. "
            f"Use the function of K, or K.eval(x).",
            subject=self,
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Take over NumPy's operators, `np.ones(3) * tensor`; refuse its other functions."""
        name = _UFUNCS.get(ufunc.__name__)
        if name is not None and method == "__call__" and not kwargs:
            return OPERATORS[name](*inputs)
        written = ufunc.__name__
        if method == "reduce":
            written = _REDUCTIONS.get(written, written)
        raise DtypeError(
            f"tensor '{self.name}': np.{written} needs numbers, and a symbolic tensor holds "
            f"none. Use the function of K: K.{written} if there is one.",
            subject=self,
        )

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
    __float__ = _operator("float")
    __int__ = _operator("int")
    __floordiv__ = _operator("floordiv")
    __rfloordiv__ = _operator("floordiv", reflected=True)
    __mod__ = _operator("mod")
    __rmod__ = _operator("mod", reflected=True)
    __and__ = _operator("and")
    __rand__ = _operator("and", reflected=True)
    __or__ = _operator("or")
    __ror__ = _operator("or", reflected=True)
    __xor__ = _operator("xor")
    __rxor__ = _operator("xor", reflected=True)
    __invert__ = _operator("invert")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __getitem__ = _operator("getitem")
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return _equality("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _equality("ne", self, other)


def _equality(name: str, x: Tensor, y: object) -> Any:
    if not isinstance(y, (Tensor, np.ndarray, np.generic, int, float)):
        return NotImplemented  # a tensor is no text, and not None
    return OPERATORS[name](x, y) if is_eager() else Equality(name, x, y)


class Equality(Tensor):
    """What `x == y` and `x != y` give: where the numbers are equal, once somebody wants a tensor.

    Lists of tensors are searched by `==` too, and there only truth is asked for: whether the two
    are one and the same tensor. So the op is not called before anything else is.
    """

    __slots__ = ("operator", "sides")

    def __init__(self, operator: str, x: Tensor, y: Any) -> None:
        self.operator, self.sides = operator, (x, y)

    def __getattr__(self, name: str) -> Any:
        if name not in Tensor.__slots__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with graph_mode():
            made: Tensor = OPERATORS[self.operator](*self.sides)
        for slot in set(Tensor.__slots__) - {"__weakref__"}:
            setattr(self, slot, getattr(made, slot))
        if made.owner is not None:
            made.owner.outputs[0] = self
        return getattr(self, name)

    def __bool__(self) -> bool:
        x, y = self.sides
        if isinstance(y, Tensor):
            return (x is y) == (self.operator == "eq")
        return bool(np.asarray(self)) if self._is_known else super().__bool__()

    @property
    def _is_known(self) -> bool:
        """Whether variables are compared where no graph is made: then their numbers are."""
        x, y = self.sides
        known = isinstance(x, Variable) and (isinstance(y, Variable) or not isinstance(y, Tensor))
        return known and not current_scope().makes_graph

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self._is_known:
            return super().__array__(dtype, copy)
        compare = np.equal if self.operator == "eq" else np.not_equal
        return np.asarray(compare(*map(np.asarray, self.sides)), dtype)


class Placeholder(Tensor):
    """A tensor that is fed at each call of a function.

    Parameters
    ----------
    shape, dtype, name
        As for `Tensor`.
    default : float or array, optional
        Value for the functions that do not feed it: the learning phase has one, and sample weights.
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
        Copied, and never written again.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any, dtype: str | None = None, name: str | None = None) -> None:
        array = np.array(value, dtype=dtype, order="C")
        if array.dtype.kind not in "fiub":
            raise DtypeError(
                f"constant: {value!r} is of type {array.dtype}; expected numbers or booleans."
            )
        array.flags.writeable = False
        self.value = array
        super().__init__(array.shape, array.dtype.name, name or name_of_numbers(array))

    def __str__(self) -> str:
        """Return name, shape and numbers, as `print` shows them in eager mode."""
        return with_numbers(printable(self.name), self.value)

    def __repr__(self) -> str:
        """Return the same on one line, for lists and messages; without numbers if they are many."""
        return with_few_numbers(self.name, self.value)

    def __bool__(self) -> bool:
        """Tell whether a single number is not 0: so `if K.sum(x) > 0` works in eager mode."""
        if self.value.size == 1:
            return bool(self.value)
        raise ShapeError(
            f"tensor '{self.name}' of shape {self.shape}: {self.value.size} numbers are neither "
            f"true nor false together. Use K.all or K.any.",
            subject=self,
        )


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

    __slots__ = ("_is_shared", "_value", "constraint", "default_update")

    def __init__(
        self,
        value: Any,
        dtype: str | None = None,
        name: str | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        dtype = checked_dtype(dtype or config.floatx)
        self._value = np.array(as_numbers(value, "variable", dtype), dtype=dtype, order="C")
        self._is_shared = False
        self.constraint = constraint
        self.default_update: Tensor | None = None
        super().__init__(self._value.shape, dtype, name or scoped("variable"))

    def get_value(self, borrow: bool = False) -> np.ndarray:
        """Return the numbers: a copy, or with `borrow` the array itself, to be read only.

        A borrowed array never changes: the variable gets another one with its next value.
        """
        assigned = ASSIGNED.get()
        if assigned is not None and self in assigned:
            return self._only_numbers(assigned[self])
        if not borrow:
            with LOCKS.writing:
                return self._value.copy()
        with LOCKS.steps:
            if LOCKS.calls:  # an op asks, in the middle of a call that will write in place
                return self._value.copy()
            return lend(self)

    def set_value(self, value: Any) -> None:
        """Replace the numbers.

        Raises
        ------
        ShapeError
            `value` has another shape; the variable keeps its own.
        """
        set_values([(self, value)])

    def _checked(self, value: Any) -> np.ndarray:
        """Return a value as an array of the variable's shape and type.

        Raises
        ------
        ShapeError
            It has another shape.
        """
        array = as_numbers(value, f"variable '{self.name}'", self.dtype)
        array = array.astype(self.dtype, copy=False)
        if array.shape != self._value.shape:
            raise ShapeError(
                f"variable '{self.name}': new value has shape {array.shape}; "
                f"expected {self._value.shape}.",
                subject=self,
            )
        return array

    def commit(self, array: np.ndarray) -> None:
        """Take over an array that a function has computed; who holds it too sees it unchanged."""
        take_over([(self, array)])

    def _calls_to_set(self, array: np.ndarray) -> list[Call]:
        """Return the calls by which the numbers become those of an array."""
        if self.is_lent:
            return self._calls_to_have(np.array(array, order="C"), is_shared=False)
        return [partial(setitem, self._value, ..., array)]

    def _calls_to_have(self, array: np.ndarray, *, is_shared: bool) -> list[Call]:
        """Return the calls by which an array of the right kind becomes the variable's own."""
        return [
            partial(setattr, self, "_value", array),
            partial(setattr, self, "_is_shared", is_shared),
            partial(setattr, LOCKS, "moves", LOCKS.moves + 1),
        ]

    @property
    def room(self) -> np.ndarray:
        """The array itself, for a compiled function: it may change at any time."""
        return self._value

    @property
    def is_lent(self) -> bool:
        """Whether somebody else may hold the array, so that it must not be written."""
        return self._is_shared or not self._value.flags.writeable

    def move_to(self, room: np.ndarray) -> None:
        """Let the numbers lie in `room` from now on, which a compiled function writes in place.

        Parameters
        ----------
        room : array
            Of the variable's shape and type, C-contiguous; nobody else writes it.
        """
        with LOCKS.steps:
            move(self, room)

    @property
    def path(self) -> str:
        """The name, behind that of the layer: Keras 3's word for it."""
        return self.name

    @property
    def value(self) -> Any:
        """The numbers, as in Keras 3; where a graph is made, a tensor that will have them."""
        if not is_eager() and (ASSIGNED.get() is not None or current_scope().makes_graph):
            return OPERATORS["identity"](self)
        return self.get_value()

    def numpy(self) -> np.ndarray:
        """Return the numbers, as in Keras 3.

        Raises
        ------
        GraphError
            A metric's graph is being made, which will run again for each batch.
        """
        return self.get_value() if ASSIGNED.get() is None or is_eager() else self._only_numbers()

    def _only_numbers(self, value: Any = None) -> np.ndarray:
        """Return the numbers of a constant.

        Raises
        ------
        GraphError
            It is none.
        """
        if isinstance(value, Constant):
            return value.value.copy()
        raise GraphError(
            f"variable '{self.name}': its numbers are asked for, but here a graph is made, which "
            f"will run again for each batch. Use keras.ops on the variable itself.",
            subject=self,
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if current_scope().makes_graph and not is_eager():
            super().__array__()
        return np.asarray(self.numpy(), dtype)

    def __float__(self) -> float:
        return float(self.__array__())

    def __int__(self) -> int:
        return int(self.__array__())

    def assign(self, value: Any) -> Any:
        """Replace the numbers by those of an array or a tensor, as in Keras 3: see `eager.py`."""
        return OPERATORS["assign"](self, value)

    def assign_add(self, value: Any) -> Any:
        """Add to the numbers."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> Any:
        """Subtract from the numbers."""
        return self.assign(self - value)


def scoped(name: str) -> str:
    """Return `name` behind the names of the open scopes, unless it starts with them."""
    return current_scope().join(name)


# --- ops and their calls --------------------------------------------------------------------------


# In eager mode, what computes an op at once instead of making an Apply: see `backend/eager.py`.
EAGER: ContextVar[Callable[[Op, list[Tensor]], Any] | None] = ContextVar("eager", default=None)

# What was assigned to variables and is not written yet, but read already: see `eager.assigning`.
ASSIGNED: ContextVar[dict[Variable, Tensor] | None] = ContextVar("assigned", default=None)


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


ALIGNMENT = 64  # bytes; NumPy's vector loops are fastest on whole cache lines


def aligned(n_bytes: int) -> np.ndarray:
    """Return that many bytes from the beginning of a cache line on.

    Examples
    --------
    >>> block = aligned(100)
    >>> block.nbytes, block.ctypes.data % ALIGNMENT
    (100, 0)
    """
    room = np.zeros(n_bytes + ALIGNMENT, np.uint8)
    skipped = -room.ctypes.data % ALIGNMENT
    return room[skipped : skipped + n_bytes]


def room(spec: Spec) -> np.ndarray:
    """Return an array, from the beginning of a cache line on."""
    return np.ndarray(spec.shape, spec.dtype, buffer=aligned(max(spec.n_bytes, 1)).data)


FIRST_INPUT = ((0, 0),)  # what `Op.may_share` says of most ops that share anything
Kernel = str | Callable[..., None] | None
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

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
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
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], output_grads: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        """Return d loss / d input for each input, from d loss / d output; None where none flows."""
        return [None] * len(inputs)

    def __call__(self, *inputs: Any, name: str | None = None) -> Any:
        """Apply the op: make an Apply and return its output tensor (or list of them)."""
        tensors = [as_tensor(x) for x in inputs]
        assigned = ASSIGNED.get()
        if assigned:
            tensors = [assigned.get(x, x) for x in tensors]  # type: ignore[call-overload]
        evaluate = EAGER.get()
        if evaluate is not None:
            return evaluate(self, tensors)
        outputs = Apply(self, tensors, name).outputs
        return outputs[0] if self.n_outputs == 1 else outputs


class IntoMemory(Op):
    """An op whose kernel is always a function of (out, *inputs), by which it performs too.

    A subclass says `compute`, or a kernel for arrays of certain shapes.
    """

    def compute(self, out: np.ndarray, *arrays: Any) -> None:
        """Compute into an array."""
        raise NotImplementedError(f"op {type(self).__name__} does not define compute")

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
        """Return what computes for all shapes."""
        return self.compute

    def perform(self, *arrays: Any) -> Any:
        """Compute into new memory."""
        out = np.empty(self.infer_shape(*arrays), self.infer_dtype(*arrays))
        compute: Any = self.kernel(
            [Spec(x.shape, x.dtype) for x in arrays], [Spec(out.shape, out.dtype)]
        )
        compute(out, *arrays)
        return out


class ShapeOfFirst(Op):
    """An op whose result has the shape of its first input."""

    def infer_shape(self, x: Tensor, *others: Tensor) -> Shape:
        """Return that shape."""
        return x.shape


class ShapeOfLast(Op):
    """An op whose result has the shape of its last input, of which it often reads no more."""

    def infer_shape(self, *inputs: Tensor) -> Shape:
        """Return that shape."""
        return inputs[-1].shape


class Apply:
    """One call of an op.

    Attributes
    ----------
    op : Op
    inputs, outputs : list of Tensor
    scope : Scope
        Where it was made: the layer's name and the line of the user's script.
    frames : Frames
        The user's code that made it: of a function of his, a layer's `call`, a loss.
    """

    __slots__ = ("frames", "inputs", "op", "outputs", "scope")

    def __init__(self, op: Op, inputs: list[Tensor], name: str | None = None) -> None:
        budget = current_budget()
        if budget is not None:
            budget.take_parts(1, f"at op {op.name}")
        self.op = op
        self.inputs = inputs
        self.scope: Scope = current_scope()
        self.frames = frames_up_from(_getframe(2))  # over `Op.__call__`
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


TensorLike = Tensor | ArrayLike  # what becomes a tensor


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return `value` if it is a tensor, else a Constant of it; a list of tensors is stacked.

    A Python number, or an array of floats, takes the float type of `like` (by default
    `config.floatx`), so that `x * 2` stays what x is and a stray float64 does not turn a whole
    graph into float64. Whole numbers of Python are int32, as in Keras, unless they are too large.

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
    is_plain = isinstance(value, (int, list, tuple)) and array.dtype == np.int64
    return "int32" if is_plain and np.abs(array).max(initial=0) < 2**31 else array.dtype.name


_snake_names: dict[str, str] = {}


def _snake_name(name: str) -> str:
    if name not in _snake_names:
        letters = [f"_{c.lower()}" if c.isupper() else c for c in name]
        _snake_names[name] = "".join(letters).lstrip("_")
    return _snake_names[name]


def is_eager() -> bool:
    """Tell whether ops compute at once."""
    return EAGER.get() is not None


@contextmanager
def graph_mode() -> Iterator[None]:
    """Let ops make a graph inside the `with` block, whatever is around it."""
    token = EAGER.set(None)
    try:
        yield
    finally:
        EAGER.reset(token)


# --- walks over the graph -------------------------------------------------------------------------
#
# Each is a loop over an explicit stack: a chain of 30,000 ops needs no recursion.


def applies_in_order(outputs: Iterable[Tensor], fed: Iterable[Tensor] = ()) -> list[Apply]:
    """Return every Apply that `outputs` need, each after those that it needs itself.

    What computes a `fed` tensor is left out.

    The order is that of a depth-first search through the inputs from left to right: the same graph
    gives the same order in every process.

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
    """Return the placeholders, variables and constants that `outputs` need, by first use."""
    outputs = list(outputs)
    found = dict.fromkeys(x for x in outputs if x.owner is None)
    for apply in applies_in_order(outputs):
        found.update(dict.fromkeys(x for x in apply.inputs if x.owner is None))
    return list(found)


def applies_between(wrt: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Apply]:
    """Return, in order, the applies through which `outputs` depend on `wrt`."""
    dependent: set[Tensor] = set(wrt)
    between = []
    for apply in applies_in_order(outputs):
        if any(x in dependent for x in apply.inputs):
            dependent.update(apply.outputs)
            between.append(apply)
    return between

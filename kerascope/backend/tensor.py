"""Tensors: symbolic values, and the three kinds of them that no op computes.

A placeholder is fed at each call of a function, a constant is fixed, a variable holds state. All
other tensors are outputs of an `Apply`: see `graph.py`, from which everybody imports these names.

Tensors hash and compare by identity: `x in inputs` asks for this very tensor. `K.equal`
compares values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope.backend.at_once import BOUND, Call, lend, move, set_values, take_over
from kerascope.backend.dtypes import as_numbers, checked_dtype
from kerascope.backend.locks import LOCKS
from kerascope.backend.numbers_in_words import name_of_numbers, with_few_numbers, with_numbers
from kerascope.backend.scopes import current_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.errors import DtypeError, ShapeError
from kerascope.printable import printable
from kerascope.settings import config

if TYPE_CHECKING:
    from kerascope.backend.graph import Apply

# What Python's operators mean on tensors: `ops/` fills this table, so that this file needs none of
# its ops.
OPERATORS: dict[str, Callable[..., Any]] = {}


# NumPy's names of the same operators.
_UFUNCS = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow"},
    **{"matmul": "matmul", "negative": "neg", "absolute": "abs"},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
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
        if not borrow:
            with LOCKS.writing:
                return self._value.copy()
        with LOCKS.steps:
            if LOCKS.is_in_place:  # an op asks, in the middle of a call that will write in place
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
            BOUND.clear,
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

"""Variables: the tensors that hold state, such as the weights of a layer.

A variable owns an array. `set_value` writes into it, and a function writes its updates into it once
all of them are computed. `get_value` returns a copy, or with `borrow` an array that never changes:
for its next value the variable gets another array. Theano calls variables shared variables; Keras
3's `Variable` has the methods `assign` and `numpy`, and the property `value`.

All variables share two locks: see `atomic.py`.

Lessons: chapters 3 (data types) and 14 (update tuples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from operator import setitem
from typing import Any, Protocol

import numpy as np

from kerascope.backend.atomic import LOCKS, Call, lend, move, replace_arrays, set_values
from kerascope.backend.dtypes import as_numbers, checked_dtype
from kerascope.backend.graph import ASSIGNED, Constant, Tensor, is_eager
from kerascope.backend.operators import OPERATORS
from kerascope.backend.scopes import current_scope, scoped
from kerascope.errors import GraphError, ShapeError
from kerascope.settings import config


class DeviceArrays(Protocol):
    """The interface of an object that holds arrays of variables on a device: `DeviceState`."""

    def array_of(self, variable: Variable) -> np.ndarray:
        """Return the array of a variable as a read-only NumPy array."""


class Variable(Tensor):
    """A tensor that holds state: only `set_value` and a function's updates change it.

    Parameters
    ----------
    value : array_like
        The initial value; copied.
    dtype : str, optional
        Default `config.floatx`.
    name : str, optional
        For messages and pictures.
    constraint : callable, optional
        Stored for the optimizer, which applies it to each new value.

    Attributes
    ----------
    default_update : Tensor or None
        The new value in every function that reads the variable and has no other update for it.
        Random ops count their draws with it. Theano's shared variables have the same attribute.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> w = K.variable([1.0, 2.0], name="w")
    >>> w.set_value([3.0, 4.0])
    >>> w.get_value().tolist()
    [3.0, 4.0]
    """

    __slots__ = ("_is_shared", "_state", "_value", "constraint", "default_update")

    def __init__(
        self,
        value: Any,
        dtype: str | None = None,
        name: str | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        dtype = checked_dtype(dtype or config.floatx)
        array = np.array(as_numbers(value, "variable", dtype), dtype=dtype, order="C")
        self._value: np.ndarray | None = array  # None: the array is on a device, in `_state`
        self._state: DeviceArrays | None = None
        self._is_shared = False
        self.constraint = constraint
        self.default_update: Tensor | None = None
        super().__init__(array.shape, dtype, name or scoped("variable"))

    def get_value(self, borrow: bool = False) -> np.ndarray:
        """Return the value as an array: a copy, or with `borrow` the variable's array, read-only.

        A borrowed array never changes: for its next value the variable gets another array.
        """
        assigned = ASSIGNED.get()
        if assigned is not None and self in assigned:
            return self._only_numbers(assigned[self])
        if not borrow:
            with LOCKS.writing:
                return self.room.copy()
        with LOCKS.steps:
            if LOCKS.calls:  # a call that writes in place is running
                return self.room.copy()
            return lend(self)

    def set_value(self, value: Any) -> None:
        """Write a new value into the variable.

        Raises
        ------
        ShapeError
            `value` has another shape; the variable is unchanged.
        """
        set_values([(self, value)])

    def _checked(self, value: Any) -> np.ndarray:
        """Return a value as an array of the variable's shape and dtype.

        Raises
        ------
        ShapeError
            The value has another shape.
        """
        array = as_numbers(value, f"variable '{self.name}'", self.dtype)
        array = array.astype(self.dtype, copy=False)
        if array.shape != self.shape:
            raise ShapeError(
                f"variable '{self.name}': expected a new value of shape {self.shape}, "
                f"got {array.shape}.",
                subject=self,
            )
        return array

    def commit(self, array: np.ndarray) -> None:
        """Make `array` the variable's own array, without a copy; it becomes read-only."""
        replace_arrays([(self, array)])

    def _calls_to_set(self, array: np.ndarray) -> list[Call]:
        """Return the calls that copy an array into the variable; `at_once` runs them."""
        if self.is_lent:
            return self._calls_to_have(np.array(array, order="C"), is_shared=False)
        return [partial(setitem, self.room, ..., array)]

    def _calls_to_have(self, array: np.ndarray, *, is_shared: bool) -> list[Call]:
        """Return the calls that make `array` the variable's own array; `at_once` runs them."""
        return [
            partial(setattr, self, "_value", array),
            partial(setattr, self, "_state", None),
            partial(setattr, self, "_is_shared", is_shared),
            partial(setattr, LOCKS, "moves", object()),
        ]

    def _calls_to_live_in(self, state: DeviceArrays) -> list[Call]:
        """Return the calls that make the array in `state` the only one; `at_once` runs them."""
        return [partial(setattr, self, "_state", state), partial(setattr, self, "_value", None)]

    @property
    def state(self) -> DeviceArrays | None:
        """The object that holds the variable's array on a device; None if it is a NumPy array."""
        return self._state if self._value is None else None

    @property
    def room(self) -> np.ndarray:
        """The variable's array itself, for compiled functions. It may be written at any time."""
        array = self._value
        if array is None:
            with LOCKS.writing:
                state = self.state
                return self.room if state is None else state.array_of(self)
        return array

    @property
    def is_lent(self) -> bool:
        """Whether callers or observers may hold the variable's array, which is then read-only."""
        array = self._value
        return array is None or self._is_shared or not array.flags.writeable

    def __getstate__(self) -> Any:
        """Return the attributes to pickle, with a NumPy array even if the array is on a device."""
        with LOCKS.writing:
            state: Any = super().__getstate__()  # type: ignore[misc]
            return state[0], {**state[1], "_value": self.room, "_state": None}

    def move_to(self, room: np.ndarray) -> None:
        """Copy the value to the array `room`, which then is the variable's own array.

        Parameters
        ----------
        room : array
            C-contiguous, of the variable's shape and dtype, and not used by anything else.
        """
        with LOCKS.steps:
            move(self, room)

    @property
    def path(self) -> str:
        """The name with the layer's name before it, as in Keras 3."""
        return self.name

    @property
    def value(self) -> Any:
        """The value, as in Keras 3: an array, or a tensor while a graph is built."""
        if not is_eager() and (ASSIGNED.get() is not None or current_scope().makes_graph):
            return OPERATORS["identity"](self)
        return self.get_value()

    def numpy(self) -> np.ndarray:
        """Return the value as an array, as in Keras 3.

        Raises
        ------
        GraphError
            The graph of a metric is being built, which will run again for each batch.
        """
        return self.get_value() if ASSIGNED.get() is None or is_eager() else self._only_numbers()

    def _only_numbers(self, value: Any = None) -> np.ndarray:
        """Return the array of a constant.

        Raises
        ------
        GraphError
            The value is not a constant.
        """
        if isinstance(value, Constant):
            return value.value.copy()
        raise GraphError(
            f"variable '{self.name}': here a graph is built, which will run again for each batch, "
            f"so the numbers are not known yet. Use keras.ops on the variable itself.",
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
        """Assign the value of an array or tensor, as in Keras 3: see `eager.assign`."""
        return OPERATORS["assign"](self, value)

    def assign_add(self, value: Any) -> Any:
        """Add an array or tensor to the value, as in Keras 3."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> Any:
        """Subtract an array or tensor from the value, as in Keras 3."""
        return self.assign(self - value)


# --- how a call of a function reads its variables -------------------------------------------------


class ReadMode(Enum):
    """Which array a function call uses for a variable that it reads."""

    SHARED = "the variable's array, which is never written again: observers may keep it"
    COPIED = "a copy, because another thread may write the variable"
    IN_PLACE = "the variable's array; no other thread writes it, and no caller keeps it"


def read_together(
    variables: Iterable[tuple[int, Variable]], reading: ReadMode, values: list[Any]
) -> None:
    """Put the arrays of variables into their slots in `values`, all from the same training step."""
    with LOCKS.steps if reading is ReadMode.SHARED else LOCKS.writing:
        for slot, variable in variables:
            if reading is ReadMode.IN_PLACE:
                values[slot] = variable.room
            else:
                values[slot] = variable.get_value(borrow=reading is ReadMode.SHARED)

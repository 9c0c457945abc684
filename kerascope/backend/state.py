"""Backend functions for settings, unique names, the learning phase and values of variables.

Everything that `clear_session` resets is in one object, `_state`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import numpy as np

from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.dtypes import as_numbers, checked_dtype
from kerascope.backend.eager import value_of
from kerascope.backend.engines import checked_engine
from kerascope.backend.function import function
from kerascope.backend.graph import Constant, Placeholder, Tensor, as_tensor, is_eager
from kerascope.backend.ops.control import switch
from kerascope.backend.ops.shaping import shape_vector
from kerascope.backend.ops.sparse import SparsePlaceholder, SparseVariable, is_sparse_matrix
from kerascope.backend.scopes import scoped
from kerascope.backend.shapes import Shape, placeholder_shape, reshaped_shape
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError, DtypeError, PhaseAskedError
from kerascope.settings import config
from kerascope.spellings import KEYWORDS, translate

__all__ = [
    "backend",
    "batch_get_value",
    "batch_set_value",
    "cast_to_floatx",
    "clear_session",
    "constant",
    "count_params",
    "dtype",
    "epsilon",
    "eval",
    "floatx",
    "get_uid",
    "get_value",
    "get_variable_shape",
    "image_data_format",
    "image_dim_ordering",
    "in_test_phase",
    "in_train_phase",
    "int_shape",
    "is_keras_tensor",
    "is_placeholder",
    "is_tensor",
    "is_variable",
    "learning_phase",
    "learning_phase_scope",
    "ndim",
    "placeholder",
    "reset_uids",
    "set_engine",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_image_dim_ordering",
    "set_learning_phase",
    "set_value",
    "update",
    "update_add",
    "update_sub",
    "variable",
]


# --- the learning phase's placeholder -------------------------------------------------------------


class LearningPhase(Placeholder):
    """The learning phase: 0 in test and 1 in training, fed at each call."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__((), "float32", "keras_learning_phase", default=0.0)
        self._uses_learning_phase = True

    def __bool__(self) -> bool:
        raise PhaseAskedError(
            "training is a symbol here, neither true nor false: one graph serves training and "
            "test. Write K.in_train_phase(a, b, training) for `a if training else b`.",
            subject=self,
        )


# One for the whole process: models made before a `clear_session` still feed it afterwards.
PHASE = LearningPhase()


class _State:
    """The state that `clear_session` resets."""

    def __init__(self) -> None:
        self.uids: defaultdict[str, int] = defaultdict(int)
        self.phase: Placeholder | int = PHASE


# --- settings -------------------------------------------------------------------------------------


def floatx() -> str:
    """Return the dtype of new float tensors, by default "float32"."""
    return config.floatx


def set_floatx(floatx: str) -> None:
    """Set the dtype of new float tensors: "float16", "float32" or "float64"."""
    config.floatx = floatx


def epsilon() -> float:
    """Return the small number that keeps logarithms and divisions finite."""
    return config.epsilon


def set_epsilon(e: float) -> None:
    """Set the small number that keeps logarithms and divisions finite."""
    config.epsilon = e


def image_data_format() -> str:
    """Return the layout of images: "channels_last" or "channels_first"."""
    return config.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set the layout of images: "channels_last" or "channels_first"."""
    config.image_data_format = data_format


def cast_to_floatx(x: Any) -> np.ndarray:
    """Return an array converted to `floatx()`."""
    return np.asarray(x, dtype=config.floatx)


# --- names and the learning phase -----------------------------------------------------------------


def get_uid(prefix: str = "") -> int:
    """Return the next number for names with this prefix: 1, then 2, ..."""
    _state.uids[prefix] += 1
    return _state.uids[prefix]


def reset_uids() -> None:
    """Restart the numbering of names at 1."""
    _state.uids.clear()


def clear_session() -> None:
    """Reset names and the learning phase, as if kerascope had just been imported."""
    global _state
    _state = _State()


_phase_in_scope: ContextVar[Any] = ContextVar("learning_phase", default=None)


def learning_phase() -> Placeholder | int:
    """Return the flag that is 0 in test mode and 1 in training.

    It is a scalar placeholder, unless `set_learning_phase` has fixed it to a number.
    """
    fixed: Placeholder | int | None = _phase_in_scope.get()
    if fixed is not None:
        return fixed
    return 0 if is_eager() and isinstance(_state.phase, Placeholder) else _state.phase


def phase_is_open() -> bool:
    """Return whether ops compute at once (eager mode) and no learning phase is fixed."""
    is_fixed = _phase_in_scope.get() is not None or not isinstance(_state.phase, Placeholder)
    return is_eager() and not is_fixed


@contextmanager
def learning_phase_scope(value: int | Tensor) -> Iterator[None]:
    """Return a context manager in which graphs are built with a phase: 0, 1, or the placeholder."""
    before = _phase_in_scope.get()
    try:
        _phase_in_scope.set(value)  # in the `try`: undone after any interrupt
        yield
    finally:
        _phase_in_scope.set(before)


def set_learning_phase(value: int) -> None:
    """Fix the learning phase to 0 (test) or 1 (train) for everything built from now on.

    Raises
    ------
    ArgumentError
        `value` is neither 0 nor 1.
    """
    if value not in (0, 1):
        raise ArgumentError(f"K.set_learning_phase: expected 0 (test) or 1 (train), got {value!r}.")
    _state.phase = int(value)


# --- making tensors -------------------------------------------------------------------------------


def placeholder(
    shape: Iterable[int | None] | None = None,
    ndim: int | None = None,
    dtype: str | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Placeholder:
    """Return a tensor that is fed at each call of a function.

    Parameters
    ----------
    shape : tuple of int or None, optional
        None for a size that may differ between calls.
    ndim : int, optional
        The number of axes, if the shape is unknown.
    dtype : str, optional
        Default `floatx()`.
    sparse : bool
        Whether the placeholder also accepts a matrix of `scipy.sparse`: see `ops/sparse.py`.
    name : str, optional
        Default `placeholder_1`, `placeholder_2`, ...

    Raises
    ------
    ArgumentError
        Neither `shape` nor `ndim` is given.
    """
    dtype = checked_dtype(dtype or config.floatx)
    shape = placeholder_shape(shape, ndim)
    kind = SparsePlaceholder if sparse else Placeholder
    return kind(shape, dtype, name or scoped(f"placeholder_{get_uid('K.placeholder')}"))


def variable(
    value: Any,
    dtype: str | None = None,
    name: str | None = None,
    constraint: Callable[..., Any] | None = None,
) -> Variable:
    """Return a tensor that holds state, starting with a copy of `value`.

    Parameters
    ----------
    value : array_like, Tensor or matrix of `scipy.sparse`
    dtype : str, optional
        Default `floatx()`.
    name : str, optional
    constraint : callable, optional
        The optimizer applies it to each new value.
    """
    if is_sparse_matrix(value):
        return SparseVariable(value.toarray(), dtype, name, constraint)
    if isinstance(value, Tensor):
        value = eval(value)
    return Variable(value, dtype, name, constraint)


def constant(
    value: Any,
    dtype: str | None = None,
    shape: Sequence[int] | None = None,
    name: str | None = None,
) -> Constant:
    """Return a tensor with a fixed value; a scalar is repeated to fill `shape`.

    Raises
    ------
    ShapeError
        `value` is an array whose number of elements does not fit `shape`.
    """
    dtype = checked_dtype(dtype or config.floatx)
    array = as_numbers(value, "K.constant", dtype).astype(dtype)
    if shape is None:
        return Constant(array, name=name)
    sizes = shape_vector(shape)
    if array.ndim == 0:
        return Constant(np.full(sizes, array), name=name)
    return Constant(array.reshape(reshaped_shape(array.shape, sizes, "K.constant")), name=name)


# --- properties of tensors ------------------------------------------------------------------------


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a symbolic tensor."""
    return isinstance(x, Tensor)


def is_variable(x: Any) -> bool:
    """Return whether `x` is a variable."""
    return isinstance(x, Variable)


def is_placeholder(x: Any) -> bool:
    """Return whether `x` is a placeholder."""
    return isinstance(x, Placeholder)


def is_keras_tensor(x: Any) -> bool:
    """Return whether `x` is an output of `Input` or of a layer.

    Raises
    ------
    ArgumentError
        `x` is not a symbolic tensor.
    """
    if not isinstance(x, Tensor):
        raise ArgumentError(
            f"K.is_keras_tensor: Unexpectedly found an instance of type {type(x).__name__}. "
            f"Expected a symbolic tensor instance."
        )
    return x._keras_history is not None


def int_shape(x: Any) -> Shape:
    """Return the shape of `x` as a tuple of int and None."""
    return tuple(as_tensor(x).shape)


def ndim(x: Any) -> int:
    """Return the number of axes of `x`."""
    return as_tensor(x).ndim


def dtype(x: Any) -> str:
    """Return the dtype of `x`, such as "float32"."""
    return as_tensor(x).dtype


def count_params(x: Variable) -> int:
    """Return the number of elements of a variable."""
    return math.prod(get_variable_shape(x))


def get_variable_shape(x: Variable) -> tuple[int, ...]:
    """Return the shape of a variable."""
    shape = int_shape(x)
    if None in shape:
        raise ArgumentError(
            f"tensor '{x.name}': expected a variable or known sizes, got shape {shape}."
        )
    return tuple(int(size) for size in shape if size is not None)


# --- numbers in variables -------------------------------------------------------------------------


def get_value(x: Any) -> Any:
    """Return the value of a variable or constant, as an array."""
    return x.get_value() if isinstance(x, Variable) else eval(x)


def set_value(x: Variable, value: Any) -> None:
    """Replace the value of a variable. A wrong shape raises ShapeError and changes nothing."""
    if not isinstance(x, Variable):
        raise DtypeError(
            f"K.set_value: expected a variable, got {getattr(x, 'name', repr(x))}.", subject=x
        )
    x.set_value(value)


def batch_get_value(xs: Iterable[Variable]) -> list[np.ndarray]:
    """Return the values of several variables as arrays, all from the same training step."""
    xs = list(xs)
    with LOCKS.writing:
        values = [x.get_value() if isinstance(x, Variable) else None for x in xs]
    return [get_value(x) if value is None else value for x, value in zip(xs, values, strict=True)]


def batch_set_value(tuples: Iterable[tuple[Variable, Any]]) -> None:
    """Replace the values of several variables at once; if a shape is wrong, change none of them."""
    set_values(tuples)


def eval(x: Any) -> Any:
    """Return the value of a tensor that depends on no placeholder, as an array.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> float(K.eval(K.constant(2.0) * 3))
    6.0
    """
    if is_eager() or not isinstance(x, Tensor):
        value = value_of(x)
        return value.copy() if isinstance(value, np.ndarray) else value
    return function([], x, name="eval", engine="numpy")([])  # once: JAX would compile it


def update(x: Variable, new_x: Any) -> tuple[Variable, Any]:
    """Return the pair (x, new_x), as `K.function(updates=...)` and `add_update` take it."""
    return (x, new_x)


def update_add(x: Variable, increment: Any) -> tuple[Variable, Any]:
    """Return the pair (x, x + increment)."""
    return (x, x + increment)


def update_sub(x: Variable, decrement: Any) -> tuple[Variable, Any]:
    """Return the pair (x, x - decrement)."""
    return (x, x - decrement)


_state = _State()


# --- choosing by the learning phase ---------------------------------------------------------------


def in_train_phase(x, alt, training=None):
    """Return `x` in training and `alt` in test.

    Parameters
    ----------
    x, alt : Tensor or callable
        A callable is called without arguments, and only if its result may be chosen.
    training : Tensor, int or bool, optional
        The phase; by default `K.learning_phase()`.

    Returns
    -------
    Tensor
        If the phase is a number, the chosen value; otherwise a switch between `x` and `alt`.
    """
    training = learning_phase() if training is None else training
    if not isinstance(training, Tensor):
        return _made(x if training else alt)
    return switch(training, _made(x), _made(alt))


def in_test_phase(x, alt, training=None):
    """Return `x` in test and `alt` in training; arguments as for `in_train_phase`."""
    return in_train_phase(alt, x, training)


def _made(x):
    return as_tensor(x() if callable(x) else x)


# --- functions of old scripts ---------------------------------------------------------------------


_LAYOUTS = {"tf": "channels_last", "th": "channels_first"}


def backend() -> str:
    """Return the name of the engine that computes functions: "numpy" or "jax"."""
    return config.engine


def set_engine(name: str) -> None:
    """Let "numpy" or "jax" compute all functions from now on, also those made before.

    Calls that are stepped through, recorded or drawn are computed with NumPy in any case.

    Raises
    ------
    ArgumentError
        The engine is unknown.
    MissingToolError
        JAX is not installed.
    """
    config.engine = checked_engine(name, "K.set_engine")


def image_dim_ordering() -> str:
    """Return the image layout as Keras 1 names it: "tf" (channels last) or "th" (first).

    Examples
    --------
    >>> image_dim_ordering()
    'tf'
    """
    return next(old for old, new in _LAYOUTS.items() if new == config.image_data_format)


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the image layout as Keras 1 names it: "tf" (channels last) or "th" (first).

    Raises
    ------
    ArgumentError
        `dim_ordering` is neither "tf" nor "th".
    """
    if dim_ordering not in _LAYOUTS:
        raise ArgumentError(
            f"K.set_image_dim_ordering: expected 'tf' or 'th', got {dim_ordering!r}. "
            f"K.set_image_data_format takes the current names."
        )
    config.image_data_format = _LAYOUTS[dim_ordering]


# --- names and keywords of Keras 1 for other functions --------------------------------------------

_NAMES = {
    "lesser": "less",
    "lesser_equal": "less_equal",
    "deconv2d": "conv2d_transpose",
    "deconv3d": "conv3d_transpose",
}


def enter_old_names(functions: dict[str, Any]) -> None:
    """Add Keras 1's names to the backend, and make its functions accept Keras 1's keywords.

    Parameters
    ----------
    functions : dict
        The namespace of `kerascope.backend`. The keywords come from `spellings.KEYWORDS`.
    """
    for where in KEYWORDS:
        module, _, name = where.rpartition(".")
        if module == "K":
            functions[name] = _with_old_keywords(functions[name], where)
    for old, new in _NAMES.items():
        functions[old] = functions[new]


def _with_old_keywords(function: Callable[..., Any], where: str) -> Callable[..., Any]:
    @wraps(function)
    def translated(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **translate(where, kwargs)) if kwargs else function(*args)

    return translated


@contextmanager
def fresh_names() -> Iterator[None]:
    """Return a context manager in which names of layers and ops are counted from 1 again."""
    kept, uids = _state, dict(_state.uids)
    kept.uids.clear()
    try:
        yield
    finally:
        kept.uids.clear()
        kept.uids.update(uids)

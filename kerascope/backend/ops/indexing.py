"""Indexing (`x[1:, 0]`, rows of a table, one-hot codes), and shapes as tensors.

The gradient of a slice `x[1:, 0]` is a tensor like `x` that is zero outside of the slice. `gather`
may take a row many times, so its gradient, `AddRows`, adds up the gradients of each row.

Reshapes and random ops accept a shape that is a tensor, such as `K.shape(x)`. To keep the static
shape of their output precise, an op on sizes may define `known_values(*inputs)`. It returns the
values of the op's output, with None for each that is unknown before run time.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.dtypes import checked_dtype
from kerascope.backend.graph import Constant, Op, ShapeOfLast, as_tensor, parametric
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.into_memory import IntoMemory
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.types import Gradients, Kernel, Size, Specs, Tensor, TensorLike, Tensors
from kerascope.errors import ArgumentError, DataError, DtypeError, ShapeError
from kerascope.settings import config

__all__ = ["arange", "gather", "in_top_k", "one_hot", "shape", "slice"]


# --- sizes as tensors -----------------------------------------------------------------------------


class Shape(Op):
    """The sizes of `x`, as a vector of int32."""

    needs_only_shapes = True

    def infer_shape(self, x: Tensor) -> tuple[Size, ...]:
        return (x.ndim,)

    def infer_dtype(self, x: Tensor) -> str:
        return "int32"

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.array(np.shape(x), "int32")

    def known_values(self, x):
        return x.shape


def shape(x: TensorLike) -> Tensor:
    """Return the shape of a tensor at run time, as a tensor.

    Parameters
    ----------
    x : Tensor

    Returns
    -------
    Tensor, shape (ndim,), int32

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.shape(K.ones((2, 3)))).tolist()
    [2, 3]
    """
    return Shape()(x)


def known_values(tensor):
    """Return the values of an integer scalar or vector that are known before run time.

    Returns
    -------
    tuple of int or None, int or None
        For a vector, a tuple with the value of each element, or None for an unknown element. For a
        scalar, its value. None if the scalar, or the length of the vector, is unknown.
    """
    tensor = as_tensor(tensor)
    if isinstance(tensor, Constant):
        return int(tensor.value) if tensor.ndim == 0 else tuple(int(v) for v in tensor.value)
    rule = getattr(tensor.owner.op, "known_values", None) if tensor.owner else None
    if rule is not None:
        return rule(*tensor.owner.inputs)
    if tensor.ndim == 1 and tensor.shape[0] is not None:
        return (None,) * tensor.shape[0]
    return None


def sizes_from(vector: Tensor, where: str) -> tuple[Size, ...]:
    """Return the shape that a vector of sizes holds, with None for sizes unknown before run time.

    Raises
    ------
    ShapeError
        The length of the vector is unknown.
    """
    sizes = known_values(vector)
    if sizes is None:
        raise ShapeError(
            f"{where} '{vector.name}' has an unknown number of sizes. Give a vector of known "
            f"length.",
            subject=vector,
        )
    return sizes


# --- rows by number -------------------------------------------------------------------------------


def are_places(indices: np.ndarray, size: int) -> bool:
    """Return whether all indices are in [0, size)."""
    # Read as unsigned, negative numbers are the greatest: one comparison checks both bounds.
    unsigned = indices.view(f"u{indices.itemsize}")
    return not indices.size or bool(np.maximum.reduce(unsigned, None) < size)


class Gather(Op):
    """The rows of `x` at `indices`."""

    may_refuse = True

    def infer_shape(self, x: Tensor, indices: Tensor) -> tuple[Size, ...]:
        if not x.ndim:
            raise ShapeError(
                f"gather: expected a tensor with rows, got the scalar '{x.name}'.", subject=x
            )
        return (*indices.shape, *x.shape[1:])

    def perform(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        indices = np.asarray(indices)
        _check_rows(indices, x)
        return np.take(x, indices, axis=0)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        def compute(out: np.ndarray, x: np.ndarray, indices: np.ndarray) -> None:
            _check_rows(indices, x)
            x.take(indices, 0, out, "clip")  # with the default, "raise", it makes a copy first

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, indices = inputs
        return [AddRows()(output_grads[0], indices, x), None]


def _check_rows(indices: np.ndarray, x: np.ndarray) -> None:
    if not are_places(indices, len(x)):
        wrong = indices[(indices < 0) | (indices >= len(x))].flat[0]
        raise DataError(f"gather: expected indices from 0 to {len(x) - 1}, got {wrong}.")


class AddRows(ShapeOfLast, IntoMemory):
    """Zeros with the shape of `like`, with each `x[i]` added to row `indices[i]`."""

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        _, indices, like = inputs
        n_rows, width = max(like.shape[0], 1), math.prod(like.shape[1:])
        columns = np.arange(width)
        rows = np.empty((math.prod(indices.shape), 1), "int64")
        # `np.add.at` is fast for one axis only, so each number gets an index, not each row.
        places = np.empty((len(rows), width), "int64")

        def compute(out: np.ndarray, x: np.ndarray, indices: np.ndarray, like: np.ndarray) -> None:
            out.fill(0)
            np.remainder(indices.reshape(-1, 1), n_rows, rows)
            np.multiply(rows, width, places)
            np.add(places, columns, places)
            np.add.at(out.reshape(-1), places.reshape(-1), x.reshape(-1))

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Gather()(output_grads[0], inputs[1]), None, None]


def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    """Return the rows of `reference` at `indices`.

    Parameters
    ----------
    reference : Tensor, shape (rows, ...)
    indices : int Tensor, any shape
        From 0 to rows - 1.

    Returns
    -------
    Tensor, shape indices.shape + (...)

    Raises
    ------
    DtypeError
        The indices are not integers.
    DataError
        At run time: an index is out of range.

    Notes
    -----
    If a row is taken several times, its gradients are added.
    """
    indices = as_tensor(indices)
    if not indices.dtype.startswith(("int", "uint")):
        advice = (
            "For a mask use K.switch(mask, x, 0.0), which keeps the shape."
            if indices.dtype == "bool"
            else "Use K.cast(indices, 'int32')."
        )
        raise DtypeError(
            f"K.gather: expected integer indices, got '{indices.name}' of type {indices.dtype}. "
            f"{advice}",
            subject=indices,
        )
    return Gather()(reference, indices)


@parametric
class OneHot(Op):
    """For each index a row of zeros with a 1 at the index; only zeros if it is out of range."""

    num_classes: int
    dtype: str

    def infer_shape(self, indices: Tensor) -> tuple[Size, ...]:
        return (*indices.shape, self.num_classes)

    def infer_dtype(self, indices: Tensor) -> str:
        return self.dtype

    def perform(self, indices: np.ndarray, xp: Any = np) -> np.ndarray:
        return (xp.asarray(indices)[..., None] == xp.arange(self.num_classes)).astype(self.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        classes = np.arange(self.num_classes)

        def compute(out: np.ndarray, indices: np.ndarray) -> None:
            np.equal(indices[..., None], classes, out)

        return compute


def one_hot(indices, num_classes):
    """Return one-hot vectors: for each index a row of zeros with a 1 at that index.

    Parameters
    ----------
    indices : int Tensor, any shape
    num_classes : int

    Returns
    -------
    Tensor, shape indices.shape + (num_classes,), floatx

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.one_hot(K.constant([2, 0], "int32"), 3)).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return OneHot(int(num_classes), config.floatx)(indices)


@parametric
class InTopK(Op):
    """Whether the target class of each row is among the `k` greatest predictions of the row.

    That is true if fewer than `k` predictions are greater than that of the target. It is false if
    the target is out of range, or its prediction is not finite.
    """

    k: int

    def infer_shape(self, predictions: Tensor, targets: Tensor) -> tuple[Size, ...]:
        rows = merge_shapes(predictions.shape[:1], targets.shape)
        if predictions.ndim != 2 or rows is None:
            raise ShapeError(
                f"K.in_top_k: expected predictions (batch, classes) and targets (batch,), got "
                f"{predictions.shape} and {targets.shape}.",
                subject=targets,
            )
        return rows

    def infer_dtype(self, predictions: Tensor, targets: Tensor) -> str:
        return "bool"

    def perform(self, predictions: np.ndarray, targets: np.ndarray, xp: Any = np) -> np.ndarray:
        exists = (targets >= 0) & (targets < predictions.shape[1])
        chosen = xp.take_along_axis(predictions, xp.where(exists, targets, 0)[:, None], axis=1)
        above = xp.count_nonzero(predictions > chosen, axis=1)
        return (above < self.k) & xp.isfinite(chosen[:, 0]) & exists


def in_top_k(predictions: TensorLike, targets: TensorLike, k: int) -> Tensor:
    """Return whether each target class is among the `k` greatest predictions of its row.

    Parameters
    ----------
    predictions : Tensor, shape (batch, classes), float
    targets : int Tensor, shape (batch,)
    k : int

    Returns
    -------
    Tensor, shape (batch,), bool
    """
    return InTopK(int(k))(predictions, cast(targets, "int64"))


@parametric
class Arange(Op):
    """The numbers from `start` to `stop` (excluded), in steps of `step`."""

    dtype: str

    def infer_shape(self, start: Tensor, stop: Tensor, step: Tensor) -> tuple[Size, ...]:
        known = [known_values(bound) for bound in (start, stop, step)]
        return (None,) if None in known else (len(range(*known)),)

    def infer_dtype(self, start: Tensor, stop: Tensor, step: Tensor) -> str:
        return self.dtype

    def perform(self, start: int, stop: int, step: int) -> np.ndarray:
        return np.arange(start, stop, step, dtype=self.dtype)


def arange(start, stop=None, step=1, dtype="int32"):
    """Return the numbers from `start` to `stop` (excluded), in steps of `step`.

    Parameters
    ----------
    start, stop, step : int or scalar int Tensor
        Without `stop`, the numbers from 0 to `start` (excluded).
    dtype : str

    Returns
    -------
    Tensor, shape (n,)

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.arange(2, 8, 2)).tolist()
    [2, 4, 6]
    """
    start, stop = (0, start) if stop is None else (start, stop)
    dtype = checked_dtype(dtype)
    if not any(isinstance(bound, Tensor) for bound in (start, stop, step)):
        return Constant(np.arange(start, stop, step, dtype=dtype), name="arange")
    return Arange(dtype)(*(as_tensor(bound, like=_INDEX) for bound in (start, stop, step)))


_INDEX = Constant(0, "int32")  # converted like it, a Python number becomes an int32


# --- slices ---------------------------------------------------------------------------------------


class Span(NamedTuple):
    """A hashable slice that prints as `1:3` (before Python 3.12, `slice` cannot be hashed)."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    def __repr__(self) -> str:
        shown = ["" if bound is None else str(bound) for bound in self]
        return ":".join(shown if self.step is not None else shown[:2])

    def size(self, length: int | None) -> int | None:
        """Return how many entries the span selects on an axis of this length; None if unknown."""
        if length is not None:
            return len(range(*builtins.slice(*self).indices(length)))
        return 0 if self.start is not None and self.start == self.stop else None


def numpy_index(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a NumPy index, in which each `Span` is replaced by a `slice`."""
    return tuple(builtins.slice(*i) if isinstance(i, Span) else i for i in index)


@parametric
class GetItem(Op):
    """`x[index]`. The index has an int or a `Span` for each axis; None inserts a new axis."""

    index: tuple[Any, ...]
    is_view = True

    def infer_shape(self, x: Tensor) -> tuple[Size, ...]:
        sizes = iter(x.shape)
        result: list[int | None] = []
        for i in self.index:
            if i is None:
                result.append(1)
            elif isinstance(i, Span):
                result.append(i.size(next(sizes)))
            else:
                _check_place(i, next(sizes), x)
        return tuple(result)

    def perform(self, x: np.ndarray) -> np.ndarray:
        return x[(*numpy_index(self.index), ...)]  # without `...` a scalar would be a copy

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [PutItem(self.index)(output_grads[0], inputs[0])]

    def known_values(self, x):
        values = known_values(x)
        return None if values is None else values[numpy_index(self.index)[0]]


@parametric
class PutItem(ShapeOfLast, IntoMemory):
    """Zeros with the shape of `like`, with `x` written at `index`: the gradient of `GetItem`."""

    index: tuple[Any, ...]
    inputs_read_by_shape = frozenset({1})

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        index = numpy_index(self.index)

        def compute(out: np.ndarray, x: np.ndarray, like: np.ndarray) -> None:
            out.fill(0)
            out[index] = x

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [GetItem(self.index)(output_grads[0]), None]


def _check_place(place: int, size: Size, x: Tensor) -> None:
    if size is not None and not -size <= place < size:
        raise ShapeError(
            f"index of tensor '{x.name}' of shape {x.shape}: expected {-size} to {size - 1}, "
            f"got {place}.",
            subject=x,
        )


def get_item(x, index):
    """Return `x[index]` for ints, slices, None, Ellipsis, or an int tensor of row numbers."""
    x = as_tensor(x)
    if isinstance(index, (Tensor, np.ndarray, list)):
        return gather(x, index)
    items = index if isinstance(index, tuple) else (index,)
    return GetItem(_full_index(x, tuple(_checked_item(x, i) for i in items)))(x)


def _checked_item(x, item):
    if item is None or item is Ellipsis:
        return item
    try:
        if isinstance(item, builtins.slice):
            bounds = (item.start, item.stop, item.step)
            return Span(*(None if b is None else operator.index(b) for b in bounds))
        if not isinstance(item, (bool, np.bool_)):
            return operator.index(item)
    except TypeError:
        pass
    raise DtypeError(
        f"index of tensor '{x.name}': expected ints, slices of ints, None or '...', or one int "
        f"tensor alone, got {item!r}. K.gather and K.slice take tensors.",
        subject=x,
    )


def _full_index(x, items):
    """Return the index with an entry for each axis: `:` replaces Ellipsis and missing entries."""
    missing = x.ndim - sum(1 for i in items if i is not None and i is not Ellipsis)
    dots = sum(1 for i in items if i is Ellipsis)
    if missing < 0 or dots > 1:
        raise ArgumentError(
            f"index of tensor '{x.name}': expected at most one entry for each of {x.ndim} axes "
            f"and at most one '...', got {len(items)} entries, {dots} of them '...'.",
            subject=x,
        )
    where = next((n for n, i in enumerate(items) if i is Ellipsis), len(items))
    return (*items[:where], *(Span(),) * missing, *items[where + dots :])


class GetSlice(Op):
    """The slice of `x` from `start`, of shape `size`. Both are vectors computed at run time."""

    def infer_shape(self, x: Tensor, start: Tensor, size: Tensor) -> tuple[Size, ...]:
        firsts, sizes = known_values(start), known_values(size)
        if firsts is None or sizes is None:
            return (None,) * x.ndim
        return tuple(_part_size(*facts) for facts in zip(firsts, sizes, x.shape, strict=True))

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def perform(self, x: np.ndarray, start: np.ndarray, size: np.ndarray) -> np.ndarray:
        return x[_run_time_slices(start, size)]

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        def compute(out: np.ndarray, x: np.ndarray, start: np.ndarray, size: np.ndarray) -> None:
            np.copyto(out, x[_run_time_slices(start, size)])

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, start, size = inputs
        return [PutSlice()(output_grads[0], start, size, x), None, None]


class PutSlice(ShapeOfLast, IntoMemory):
    """The gradient of `GetSlice`: zeros with the shape of `like`, with `x` written at `start`."""

    def compute(
        self, out: np.ndarray, x: np.ndarray, start: np.ndarray, size: np.ndarray, like: np.ndarray
    ) -> None:
        """Fill `out` with zeros and write `x` at `start`."""
        out.fill(0)
        out[_run_time_slices(start, size)] = x

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        _, start, size, _ = inputs
        return [GetSlice()(output_grads[0], start, size), None, None, None]


def _part_size(first: Size, size: Size, length: Size) -> Size:
    """Return the length of a slice, None if unknown. A `size` of -1 means up to the axis's end."""
    if size != -1:
        return size
    return None if first is None or length is None else length - first


def _run_time_slices(start: np.ndarray, size: np.ndarray) -> tuple[builtins.slice, ...]:
    return tuple(
        builtins.slice(int(s), None if n == -1 else int(s + n))
        for s, n in zip(start, size, strict=True)
    )


def slice(x, start, size):
    """Return the part of a tensor that begins at `start` and has the shape `size`.

    Parameters
    ----------
    x : Tensor
    start : list of int or scalar int Tensor, or int Tensor of shape (ndim,)
        First index along each axis.
    size : list of int or scalar int Tensor, or int Tensor of shape (ndim,)
        Length along each axis; -1 means up to the end.

    Raises
    ------
    ArgumentError
        The slice exceeds the shape of the tensor, or `start` or `size` has a wrong length.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.slice(K.constant([[1, 2, 3], [4, 5, 6]]), [0, 1], [2, 2])).tolist()
    [[2.0, 3.0], [5.0, 6.0]]
    """
    x = as_tensor(x)
    start, size = _vector(start), _vector(size)
    if isinstance(start, Tensor) or isinstance(size, Tensor):
        return GetSlice()(x, start, size)
    if len(start) != x.ndim or len(size) != x.ndim:
        raise ArgumentError(
            f"K.slice: expected one number for each of {x.ndim} axes {x.shape}, got start "
            f"{start!r} and size {size!r}."
        )
    for first, count, length in zip(start, size, x.shape, strict=True):
        if first < 0 or count < -1 or (length is not None and first + max(count, 0) > length):
            raise ArgumentError(
                f"K.slice: expected a slice inside of shape {x.shape}, got start {start!r} and "
                f"size {size!r}."
            )
    spans = (Span(s, None if n == -1 else s + n) for s, n in zip(start, size, strict=True))
    return GetItem(tuple(spans))(x)


def _vector(numbers):
    """Return a list of numbers unchanged, or stacked to one tensor if an item is a tensor."""
    if isinstance(numbers, (list, tuple)) and any(isinstance(n, Tensor) for n in numbers):
        return OPERATORS["stack"](numbers)
    return numbers


OPERATORS.update(getitem=get_item)

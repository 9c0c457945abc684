"""Parts of a tensor by place: `x[1:, 0]`.

The gradient of a part is the whole, zero outside the part: every place is taken at most once.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import FIRST_INPUT, OPERATORS, Op, Tensor, as_tensor, parametric
from kerascope.backend.ops.gathering import gather
from kerascope.backend.ops.sizes import known_values
from kerascope.errors import ArgumentError, DtypeError, ShapeError

__all__ = ["slice"]


class Span(NamedTuple):
    """A slice that can be hashed (Python's own cannot before 3.12) and prints as it is written."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    def __repr__(self) -> str:
        shown = ["" if bound is None else str(bound) for bound in self]
        return ":".join(shown if self.step is not None else shown[:2])

    def size(self, length: int | None) -> int | None:
        """Return how many places of an axis of `length` it takes."""
        if length is not None:
            return len(range(*builtins.slice(*self).indices(length)))
        return 0 if self.start is not None and self.start == self.stop else None


def _numpy_index(index):
    """Return the index that NumPy understands."""
    return tuple(builtins.slice(*i) if isinstance(i, Span) else i for i in index)


@parametric
class GetItem(Op):
    """`x[index]`: for each axis of `x` an int or a `Span`; None makes a new axis."""

    index: tuple[Any, ...]
    is_view = True

    def infer_shape(self, x):
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

    def perform(self, x):
        return x[(*_numpy_index(self.index), ...)]  # without the dots a scalar would be a copy

    def grad(self, inputs, outputs, output_grads):
        return [PutItem(self.index)(output_grads[0], inputs[0])]

    def known_values(self, x):
        values = known_values(x)
        return None if values is None else values[_numpy_index(self.index)[0]]


@parametric
class PutItem(Op):
    """Zeros with the shape of `like`, and `x` at `index`."""

    index: tuple[Any, ...]
    inputs_read_by_shape = frozenset({1})

    def infer_shape(self, x, like):
        return like.shape

    def perform(self, x, like):
        whole = np.zeros(like.shape, x.dtype)
        whole[_numpy_index(self.index)] = x
        return whole

    def kernel(self, inputs, outputs):
        index = _numpy_index(self.index)

        def compute(out, x, like):
            out.fill(0)
            out[index] = x

        return compute

    def grad(self, inputs, outputs, output_grads):
        return [GetItem(self.index)(output_grads[0]), None]


def _check_place(place, size, x):
    if size is not None and not -size <= place < size:
        raise ShapeError(
            f"index of tensor '{x.name}' of shape {x.shape}: expected {-size} to {size - 1}, "
            f"got {place}.",
            subject=x,
        )


def get_item(x, index):
    """Return `x[index]`: ints, slices, None and Ellipsis, or the rows that an int tensor names."""
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
        f"index of tensor '{x.name}': got {item!r}; expected ints, slices of ints, None and '...', "
        f"or one tensor of ints alone. K.gather and K.slice take tensors.",
        subject=x,
    )


def _full_index(x, items):
    """Return the index with one entry for each axis: Ellipsis and the end filled with `:`."""
    missing = x.ndim - sum(1 for i in items if i is not None and i is not Ellipsis)
    dots = sum(1 for i in items if i is Ellipsis)
    if missing < 0 or dots > 1:
        raise ArgumentError(
            f"index of tensor '{x.name}': {len(items)} entries, {dots} of them '...'; "
            f"expected at most one for each of {x.ndim} axes and at most one '...'.",
            subject=x,
        )
    where = next((n for n, i in enumerate(items) if i is Ellipsis), len(items))
    return (*items[:where], *(Span(),) * missing, *items[where + dots :])


class GetSlice(Op):
    """The part of `x` that starts at `start` and has `size`, both vectors known at run time."""

    def infer_shape(self, x, start, size):
        firsts, sizes = known_values(start), known_values(size)
        if firsts is None or sizes is None:
            return (None,) * x.ndim
        return tuple(_part_size(*facts) for facts in zip(firsts, sizes, x.shape, strict=True))

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def perform(self, x, start, size):
        return x[_run_time_slices(start, size)]

    def kernel(self, inputs, outputs):
        def compute(out, x, start, size):
            np.copyto(out, x[_run_time_slices(start, size)])

        return compute

    def grad(self, inputs, outputs, output_grads):
        x, start, size = inputs
        return [PutSlice()(output_grads[0], start, size, x), None, None]


class PutSlice(Op):
    """Zeros with the shape of `like`, and `x` from `start` on."""

    def infer_shape(self, x, start, size, like):
        return like.shape

    def perform(self, x, start, size, like):
        whole = np.zeros(like.shape, x.dtype)
        whole[_run_time_slices(start, size)] = x
        return whole

    def kernel(self, inputs, outputs):
        def compute(out, x, start, size, like):
            out.fill(0)
            out[_run_time_slices(start, size)] = x

        return compute

    def grad(self, inputs, outputs, output_grads):
        _, start, size, _ = inputs
        return [GetSlice()(output_grads[0], start, size), None, None, None]


def _part_size(first, size, length):
    """Return how many places a slice takes, -1 meaning all that follow; None if that is unknown."""
    if size != -1:
        return size
    return None if first is None or length is None else length - first


def _run_time_slices(start, size):
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
        First place along each axis.
    size : list of int or scalar int Tensor, or int Tensor of shape (ndim,)
        How many places; -1 means all that follow.

    Raises
    ------
    ArgumentError
        A part lies outside the tensor, as far as its sizes are known.

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
            f"K.slice: start {start!r} and size {size!r} for shape {x.shape}; expected one number "
            f"for each of {x.ndim} axes."
        )
    for first, count, length in zip(start, size, x.shape, strict=True):
        if first < 0 or count < -1 or (length is not None and first + max(count, 0) > length):
            raise ArgumentError(
                f"K.slice: start {start!r} and size {size!r} reach outside of shape {x.shape}."
            )
    spans = (Span(s, None if n == -1 else s + n) for s, n in zip(start, size, strict=True))
    return GetItem(tuple(spans))(x)


def _vector(numbers):
    """Return the numbers as they are, or as one tensor if one of them is a tensor."""
    if isinstance(numbers, (list, tuple)) and any(isinstance(n, Tensor) for n in numbers):
        return OPERATORS["stack"](numbers)
    return numbers


OPERATORS.update(getitem=get_item)

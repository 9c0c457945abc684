"""Places by number: rows of a table, one-hot codes, ranges.

The gradient of `gather` is `AddRows`: one row may be taken many times, and its gradients add up.
"""

from __future__ import annotations

import math

import numpy as np

from kerascope.backend.graph import Constant, Op, Tensor, as_tensor, checked_dtype, parametric
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.sizes import known_values
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import DataError, DtypeError, ShapeError
from kerascope.settings import config

__all__ = ["arange", "gather", "in_top_k", "one_hot"]


def are_places(indices, size):
    """Tell whether all indices lie in [0, size)."""
    # Read as unsigned numbers the negative ones are the greatest: one look finds both mistakes.
    unsigned = indices.view(f"u{indices.itemsize}")
    return not indices.size or bool(np.maximum.reduce(unsigned, None) < size)


class Gather(Op):
    """The rows of `x` that `indices` name."""

    may_refuse = True

    def infer_shape(self, x, indices):
        if not x.ndim:
            raise ShapeError(
                f"gather: '{x.name}' is a single number; expected rows to choose from.", subject=x
            )
        return (*indices.shape, *x.shape[1:])

    def perform(self, x, indices):
        indices = np.asarray(indices)
        _check_rows(indices, x)
        return np.take(x, indices, axis=0)

    def kernel(self, inputs, outputs):
        def compute(out, x, indices):
            _check_rows(indices, x)
            x.take(indices, 0, out, "clip")  # with the default, "raise", it makes a copy first

        return compute

    def grad(self, inputs, outputs, output_grads):
        x, indices = inputs
        return [AddRows()(output_grads[0], indices, x), None]


def _check_rows(indices, x):
    if not are_places(indices, len(x)):
        wrong = indices[(indices < 0) | (indices >= len(x))].flat[0]
        raise DataError(f"gather: no row {wrong}; expected indices from 0 to {len(x) - 1}.")


class AddRows(Op):
    """Zeros with the shape of `like`, to whose row `indices[i]` each `x[i]` is added."""

    def infer_shape(self, x, indices, like):
        return like.shape

    def perform(self, x, indices, like):
        total = np.zeros(like.shape, x.dtype)
        width = math.prod(like.shape[1:])
        rows = np.ravel(indices).astype("int64") % max(len(like), 1)
        # `np.add.at` is fast along one axis only: hence a place for each number, not for each row.
        places = rows[:, None] * width + np.arange(width)
        np.add.at(total.reshape(-1), places.ravel(), x.reshape(-1))
        return total

    def kernel(self, inputs, outputs):
        _, indices, like = inputs
        n_rows, width = max(like.shape[0], 1), math.prod(like.shape[1:])
        columns = np.arange(width)
        rows = np.empty((math.prod(indices.shape), 1), "int64")
        places = np.empty((len(rows), width), "int64")

        def compute(out, x, indices, like):
            out.fill(0)
            np.remainder(indices.reshape(-1, 1), n_rows, rows)
            np.multiply(rows, width, places)
            np.add(places, columns, places)
            np.add.at(out.reshape(-1), places.reshape(-1), x.reshape(-1))

        return compute

    def grad(self, inputs, outputs, output_grads):
        return [Gather()(output_grads[0], inputs[1]), None, None]


def gather(reference, indices):
    """Return the rows of `reference` that `indices` name.

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
        The indices are no whole numbers.
    DataError
        At run time: there is no such row.

    Notes
    -----
    The gradient of a row that was taken several times is the sum of its gradients.
    """
    indices = as_tensor(indices)
    if not indices.dtype.startswith(("int", "uint")):
        raise DtypeError(
            f"K.gather: indices '{indices.name}' are of type {indices.dtype}; expected ints. "
            f"K.cast(indices, 'int32') them first.",
            subject=indices,
        )
    return Gather()(reference, indices)


@parametric
class OneHot(Op):
    """For each index a row of zeros with a 1 at that place; no 1 if the place does not exist."""

    num_classes: int
    dtype: str

    def infer_shape(self, indices):
        return (*indices.shape, self.num_classes)

    def infer_dtype(self, indices):
        return self.dtype

    def perform(self, indices):
        return (np.asarray(indices)[..., None] == np.arange(self.num_classes)).astype(self.dtype)

    def kernel(self, inputs, outputs):
        classes = np.arange(self.num_classes)

        def compute(out, indices):
            np.equal(indices[..., None], classes, out)

        return compute


def one_hot(indices, num_classes):
    """Return rows of zeros with a single 1, at the place that each index names.

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
    """Whether fewer than `k` predictions of a row exceed that of its target; ties count as in.

    A target that is no class of the row is never in.
    """

    k: int

    def infer_shape(self, predictions, targets):
        rows = merge_shapes(predictions.shape[:1], targets.shape)
        if predictions.ndim != 2 or rows is None:
            raise ShapeError(
                f"K.in_top_k: predictions of shape {predictions.shape} and targets of shape "
                f"{targets.shape}; expected (batch, classes) and (batch,).",
                subject=targets,
            )
        return rows

    def infer_dtype(self, predictions, targets):
        return "bool"

    def perform(self, predictions, targets):
        exists = (targets >= 0) & (targets < predictions.shape[1])
        chosen = np.take_along_axis(predictions, np.where(exists, targets, 0)[:, None], axis=1)
        above = np.count_nonzero(predictions > chosen, axis=1)
        return (above < self.k) & np.isfinite(chosen[:, 0]) & exists


def in_top_k(predictions, targets, k):
    """Return whether each target is among the `k` greatest predictions of its row.

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
    """Numbers from `start` up to, but without, `stop`."""

    dtype: str

    def infer_shape(self, start, stop, step):
        known = [known_values(bound) for bound in (start, stop, step)]
        return (None,) if None in known else (len(range(*known)),)

    def infer_dtype(self, start, stop, step):
        return self.dtype

    def perform(self, start, stop, step):
        return np.arange(start, stop, step, dtype=self.dtype)


def arange(start, stop=None, step=1, dtype="int32"):
    """Return the numbers from `start` up to, but without, `stop`.

    Parameters
    ----------
    start, stop, step : int or scalar int Tensor
        With `stop` left out, the numbers from 0 to `start`.
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


_INDEX = Constant(0, "int32")  # beside it a Python number becomes an int32

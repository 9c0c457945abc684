"""Products of matrices and of tensors: sums over a pair of axes.

`TensorDot` and `BatchDot` sum over any pairs of axes; the derivative of such a contraction is a
contraction again.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from kerascope.backend.graph import OPERATORS, Op, parametric
from kerascope.backend.ops.broadcasting import promoted, unbroadcast
from kerascope.backend.ops.long_products import long_product, product_of_rows, rows_of_a_piece
from kerascope.backend.ops.shaping import Transpose, transpose
from kerascope.backend.ops.templates import turned
from kerascope.backend.shapes import broadcast_shapes, merge_shapes
from kerascope.errors import ShapeError

__all__ = ["dot"]


def _check_inner(where, x, y, x_size, y_size):
    if x_size is None or y_size is None or x_size == y_size:
        return
    raise ShapeError(
        f"{where}: shapes {x.shape} and {y.shape}; expected equal inner sizes, "
        f"got {x_size} and {y_size}.",
        subject=x,
    )


@parametric
class Contraction(Op):
    """The sum of the products over pairs of axes of `x` and `y`.

    Axes of the result: the `batch` first ones, which both have, then what is left of `x`, then of
    `y`.
    """

    x_axes: tuple[int, ...]
    y_axes: tuple[int, ...]
    batch: ClassVar[int] = 0

    def free(self, ndim, taken):
        """Return the axes that are neither batch nor summed over."""
        return tuple(axis for axis in range(self.batch, ndim) if axis not in taken)

    def infer_shape(self, x, y):
        for a, b in zip(self.x_axes, self.y_axes, strict=True):
            _check_inner(self.name, x, y, x.shape[a], y.shape[b])
        batch = merge_shapes(x.shape[: self.batch], y.shape[: self.batch])
        if batch is None:
            raise ShapeError(
                f"{self.name}: shapes {x.shape} and {y.shape} differ in the batch.", subject=x
            )
        rest = [x.shape[a] for a in self.free(x.ndim, self.x_axes)]
        return (*batch, *rest, *(y.shape[b] for b in self.free(y.ndim, self.y_axes)))

    def as_product(self, function, x, y):
        """Return the text of a kernel: a product of matrices by a function of NumPy."""
        x_free, y_free = self.free(len(x.shape), self.x_axes), self.free(len(y.shape), self.y_axes)
        common = tuple(range(self.batch))
        rows = math.prod(x.shape[a] for a in x_free)
        columns = math.prod(y.shape[b] for b in y_free)
        inner = math.prod(x.shape[a] for a in self.x_axes)
        batch = x.shape[: self.batch]
        left = turned("{0}", x.shape, (*common, *x_free, *self.x_axes), (*batch, rows, inner))
        right = turned("{1}", y.shape, (*common, *self.y_axes, *y_free), (*batch, inner, columns))
        result = (*batch, *(x.shape[a] for a in x_free), *(y.shape[b] for b in y_free))
        out = turned("{out}", result, range(len(result)), (*batch, rows, columns))
        return f"{function}({left}, {right}, {out})"

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        kind, g = type(self), output_grads[0]
        x_free, y_free = self.free(x.ndim, self.x_axes), self.free(y.ndim, self.y_axes)
        middle = self.batch + len(x_free)
        to_x = kind(tuple(range(middle, g.ndim)), y_free)(g, y)
        to_y = kind(x_free, tuple(range(self.batch, middle)))(x, g)
        x_left = [self.x_axes[self.y_axes.index(b)] for b in sorted(self.y_axes)]
        y_left = [self.y_axes[self.x_axes.index(a)] for a in sorted(self.x_axes)]
        common = tuple(range(self.batch))
        return [
            _in_place(to_x, (*common, *x_free, *x_left)),
            _in_place(to_y, (*common, *y_left, *y_free)),
        ]


def _in_place(tensor, meant_for):
    """Return the tensor with its axes in rising order of the places that they are meant for."""
    pattern = tuple(meant_for.index(axis) for axis in range(len(meant_for)))
    return tensor if pattern == tuple(range(tensor.ndim)) else Transpose(pattern)(tensor)


class TensorDot(Contraction):
    """The sum of the products over pairs of axes: NumPy's `tensordot`."""

    def perform(self, x, y):
        kernel = self._long_kernel(x, y)
        if kernel is None:
            return np.tensordot(x, y, (self.x_axes, self.y_axes))
        left, right = (x.shape[a] for a in self.free(x.ndim, self.x_axes)), y.shape[-1:]
        out = np.empty((*left, *right), x.dtype)
        kernel(out, x, y)
        return out

    def kernel(self, inputs, outputs):
        return self._long_kernel(*inputs) or self.as_product("np.dot", *inputs)

    def _long_kernel(self, x, y):
        """Return what computes a product of a long matrix, in pieces; None if this is none.

        Such a product is that of all samples and times with a kernel, and its gradient.
        """
        if x.dtype != y.dtype or x.dtype not in (np.float32, np.float64):
            return None
        n_left, n_right = len(x.shape), len(y.shape)
        if min(n_left, n_right) < 2:
            return None
        rows = math.prod(x.shape[:-1])
        inner, columns = x.shape[-1], y.shape[-1]
        if rows_of_a_piece(rows, inner, columns) >= rows:
            return None
        if (self.x_axes, self.y_axes, n_right) == ((n_left - 1,), (0,), 2):

            def kernel(out, x, y):
                long_product(x.reshape(rows, inner), y, out.reshape(rows, columns))

            return kernel
        if self.x_axes == self.y_axes == tuple(range(n_left - 1)) and n_left == n_right:

            def kernel_of_gradient(out, x, y):
                product_of_rows(x.reshape(rows, inner), y.reshape(rows, columns), out)

            return kernel_of_gradient
        return None


class BatchDot(Contraction):
    """For each sample the sum of the products over pairs of axes; axis 0 counts the samples."""

    batch: ClassVar[int] = 1

    def perform(self, x, y):
        x_free, y_free = self.free(x.ndim, self.x_axes), self.free(y.ndim, self.y_axes)
        x_sizes, y_sizes = [x.shape[a] for a in x_free], [y.shape[b] for b in y_free]
        rows, columns = math.prod(x_sizes), math.prod(y_sizes)
        inner = math.prod(x.shape[a] for a in self.x_axes)
        left = x.transpose(0, *x_free, *self.x_axes).reshape(len(x), rows, inner)
        right = y.transpose(0, *self.y_axes, *y_free).reshape(len(y), inner, columns)
        return np.matmul(left, right).reshape(len(x), *x_sizes, *y_sizes)

    def kernel(self, inputs, outputs):
        return self.as_product("np.matmul", *inputs)


class Dot(Op):
    """The last axis of `x` times the last but one of `y` (or its only one)."""

    def infer_shape(self, x, y):
        if x.ndim == 0 or y.ndim == 0:
            raise ShapeError(
                f"dot: shapes {x.shape} and {y.shape}; expected at least one axis each.", subject=x
            )
        inner = max(y.ndim - 2, 0)
        _check_inner("dot", x, y, x.shape[-1], y.shape[inner])
        return (*x.shape[:-1], *y.shape[:inner], *y.shape[inner + 1 :])

    def perform(self, x, y):
        if x.ndim <= 2 and y.ndim <= 2:
            return np.dot(x, y)
        return TensorDot((x.ndim - 1,), (max(y.ndim - 2, 0),)).perform(x, y)

    def kernel(self, inputs, outputs):
        x, y = inputs
        if len(x.shape) <= 2 and len(y.shape) <= 2:
            return "np.dot({0}, {1}, {out})"
        as_contraction = TensorDot((len(x.shape) - 1,), (max(len(y.shape) - 2, 0),))
        return as_contraction.kernel(inputs, outputs)

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        if x.ndim == 2 and y.ndim == 2:
            return [Dot()(output_grads[0], transpose(y)), Dot()(transpose(x), output_grads[0])]
        as_contraction = TensorDot((x.ndim - 1,), (max(y.ndim - 2, 0),))
        return as_contraction.grad(inputs, outputs, output_grads)


def dot(x, y):
    """Return the product of two matrices, or of tensors along one axis.

    Parameters
    ----------
    x : Tensor, shape (..., n)
    y : Tensor, shape (..., n, m)
        Its last axis but one meets the last of `x`.

    Returns
    -------
    Tensor, shape x.shape[:-1] + y.shape without its last axis but one

    Raises
    ------
    ShapeError
        The inner sizes differ.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.dot(K.placeholder((None, 5, 20)), K.zeros((20, 64))).shape
    (None, 5, 64)
    """
    return Dot()(*promoted(x, y))


class MatMul(Op):
    """Matrices in the last two axes, multiplied pair by pair; the axes before them broadcast."""

    def infer_shape(self, x, y):
        _check_inner("matmul", x, y, x.shape[-1], y.shape[-2])
        batch = broadcast_shapes(x.shape[:-2], y.shape[:-2], where="matmul")
        return (*batch, x.shape[-2], y.shape[-1])

    def perform(self, x, y):
        return np.matmul(x, y)

    def kernel(self, inputs, outputs):
        return "np.matmul({0}, {1}, {out})"

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        to_x = MatMul()(output_grads[0], _flipped(y))
        to_y = MatMul()(_flipped(x), output_grads[0])
        return [unbroadcast(to_x, x, to_x), unbroadcast(to_y, y, to_y)]


def _flipped(x):
    """Return the tensor with its last two axes exchanged."""
    return Transpose((*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))(x)


def matmul(x, y):
    """Return `x @ y`: NumPy's rule, in which the axes before the last two are broadcast."""
    x, y = promoted(x, y)
    if x.ndim == y.ndim == 2 or 1 in (x.ndim, y.ndim):
        return Dot()(x, y)
    if 0 in (x.ndim, y.ndim):
        raise ShapeError(
            f"matmul: shapes {x.shape} and {y.shape}; expected at least one axis each. "
            f"Use * for scalars."
        )
    return MatMul()(x, y)


OPERATORS.update(matmul=matmul)

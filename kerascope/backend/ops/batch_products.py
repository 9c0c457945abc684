"""`K.batch_dot`: for each sample a product, in the sense of Keras 2.2 or of Keras 3."""

from __future__ import annotations

import numpy as np

from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.einsum import einsum
from kerascope.backend.ops.linalg import BatchDot
from kerascope.backend.ops.reduction import sum
from kerascope.backend.ops.shaping import expand_dims
from kerascope.backend.shapes import normalize_axis
from kerascope.errors import ArgumentError, ShapeError
from kerascope.spellings import habits

__all__ = ["batch_dot"]


def batch_dot(x, y, axes=None):
    """Return for each sample the product of `x` and `y` along one axis of each.

    Parameters
    ----------
    x, y : Tensor, shape (batch, ...)
        At least two axes.
    axes : int or pair of int, optional
        Axis of `x` and axis of `y`, neither of them the batch. By default the last of `x` and the
        last but one of `y` (its last, if it has two).

    Returns
    -------
    Tensor, shape (batch, rest of x, rest of y)
        (batch, 1) where nothing is left.

    Notes
    -----
    Where Keras changed its mind the dialect decides. In "1.2" and "2.2", as in Keras 2.2.4 on
    TensorFlow, all axes but the last two count samples when `y` has at least four, `x` as many or
    one less, and the sum is over one of the last two: shapes (b, 10, n) and (b, 10, n, 16) give
    (b, 10, 16). In "3" they give (b, 10, 10, 16). `axes=0` of two matrices is there the sum over
    the samples, of shape (n, 1); in "3" it is refused.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, y = K.placeholder((None, 20)), K.placeholder((None, 30, 20))
    >>> K.batch_dot(x, y, axes=(1, 2)).shape
    (None, 30)
    """
    x, y = promoted(x, y)
    if x.ndim < 2 or y.ndim < 2:
        raise ShapeError(
            f"K.batch_dot: shapes {x.shape} and {y.shape}; expected at least 2 axes each."
        )
    if axes is None:
        axes = (x.ndim - 1, max(y.ndim - 2, 1))
    pair = (axes, axes) if isinstance(axes, (int, np.integer)) else tuple(axes)
    if len(pair) != 2:
        raise ArgumentError(f"K.batch_dot: axes {axes!r}; expected an int or a pair of ints.")
    x_axis = normalize_axis(pair[0], x.ndim, "K.batch_dot")
    y_axis = normalize_axis(pair[1], y.ndim, "K.batch_dot")
    is_outer = habits().batch_dot_is_outer
    if x_axis == y_axis == 0 and x.ndim == y.ndim == 2 and not is_outer:
        return expand_dims(sum(x * y, axis=0), 1)
    if 0 in (x_axis, y_axis):
        raise ArgumentError(
            f"K.batch_dot: axes {axes!r}; expected axes other than 0, which counts the samples."
        )
    if not is_outer and _are_matrices(x, y, x_axis, y_axis):
        return _products_of_matrices(x, y, x_axis, y_axis)
    product = BatchDot((x_axis,), (y_axis,))(x, y)
    return expand_dims(product, 1) if product.ndim == 1 else product


def _are_matrices(x, y, x_axis, y_axis):
    last = y.ndim - 1
    return 3 <= last <= x.ndim <= y.ndim and min(x_axis, y_axis) >= last - 1


def _products_of_matrices(x, y, x_axis, y_axis):
    """Return the sums over one of the last two axes; all axes before them count samples."""
    samples = "".join(chr(ord("b") + axis) for axis in range(y.ndim - 2))
    x_rest = "" if x.ndim < y.ndim else "X"
    left = f"{x_rest}a" if x_axis == x.ndim - 1 else f"a{x_rest}"
    right = "aY" if y_axis == y.ndim - 2 else "Ya"
    return einsum(f"{samples}{left},{samples}{right}->{samples}{x_rest}Y", x, y)

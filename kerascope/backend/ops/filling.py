"""Tensors of one repeated number, and the identity matrix: `zeros`, `ones`, `eye`.

They are variables, unless only a run tells their shape: `K.zeros((K.shape(x)[0], 3))`, the first
states of a recurrent network for a batch of any size, is the output of an op.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kerascope.backend.graph import Op, Tensor, Variable, checked_dtype, parametric
from kerascope.backend.ops.shaping import shape_vector
from kerascope.backend.ops.sizes import known_values
from kerascope.backend.ops.templates import number
from kerascope.errors import ShapeError
from kerascope.settings import config

__all__ = ["eye", "ones", "zeros"]

Sizes = int | Sequence[int | Tensor] | Tensor


@parametric
class Full(Op):
    """One repeated value in the shape that the input, a vector of ints, says."""

    value: float
    dtype: str

    def infer_shape(self, shape):
        sizes = known_values(shape)
        if sizes is None:
            raise ShapeError(
                f"full: the shape '{shape.name}' has an unknown number of sizes; "
                f"expected a vector of known length.",
                subject=shape,
            )
        return sizes

    def infer_dtype(self, shape):
        return self.dtype

    def perform(self, shape):
        return np.full(tuple(shape), self.value, self.dtype)

    def kernel(self, inputs, outputs):
        return f"{{out}}.fill({number(self.value)})"


def zeros(shape: Sizes, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable full of zeros.

    Parameters
    ----------
    shape : tuple of int or scalar int Tensor, or int Tensor of shape (ndim,)
        With a tensor in it, what comes back is no variable but a tensor of the size that a run
        tells.
    dtype : str, optional
        Default `floatx()`.
    name : str, optional

    Raises
    ------
    ArgumentError
        A size is None.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.get_value(K.zeros((1, 3))).tolist()
    [[0.0, 0.0, 0.0]]
    >>> x = K.placeholder((None, 7))
    >>> K.zeros((K.shape(x)[0], 3)).shape
    (None, 3)
    """
    return _filled(0.0, shape, dtype, name)


def ones(shape: Sizes, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable full of ones; arguments as for `zeros`."""
    return _filled(1.0, shape, dtype, name)


def _filled(value, shape, dtype, name):
    sizes = shape_vector(shape)
    if isinstance(sizes, Tensor):
        return Full(value, checked_dtype(dtype or config.floatx))(sizes, name=name)
    return Variable(np.full(sizes, value), dtype, name)


def eye(size: int, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable that holds the identity matrix of `size` rows."""
    return Variable(np.eye(size), dtype, name)

"""Sizes as tensors: `K.shape(x)`, and what is known of such a tensor before a run.

A reshape or a random op may take its shape as a tensor. So that its output keeps a precise static
shape, an op that passes sizes on may define `known_values(*inputs)`: what its output will hold,
with None for the unknown.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Constant, Op, as_tensor

__all__ = ["shape"]


class Shape(Op):
    """The sizes of `x`, as a vector of int32."""

    needs_only_shapes = True

    def infer_shape(self, x):
        return (x.ndim,)

    def infer_dtype(self, x):
        return "int32"

    def perform(self, x):
        return np.array(np.shape(x), "int32")

    def known_values(self, x):
        return x.shape


def shape(x):
    """Return the shape of a tensor as a tensor, known in full at run time.

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
    """Return what an integer tensor of at most one axis will hold, as far as the graph tells.

    Returns
    -------
    tuple of int or None, int or None
        One entry for each element; for a scalar the entry itself. A vector of which even the length
        is unknown gives None.
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

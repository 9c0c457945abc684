"""All time steps of a batch as one greater batch, and back."""

from __future__ import annotations

from kerascope import backend as K
from kerascope.backend.graph import Tensor


def joined_steps(x: Tensor) -> Tensor:
    """Return (batch, time, ...) as (batch * time, ...).

    Examples
    --------
    >>> joined_steps(K.placeholder((None, 5, 4))).shape
    (None, 4)
    """
    sizes = [K.shape(x)[axis + 2] if n is None else n for axis, n in enumerate(x.shape[2:])]
    return K.reshape(x, (-1, *sizes))


def parted_steps(x: Tensor, like: Tensor) -> Tensor:
    """Return (batch * time, ...) as (batch, time, ...), with the first two sizes of `like`.

    Examples
    --------
    >>> x = K.placeholder((None, 5, 4))
    >>> parted_steps(joined_steps(x), like=x).shape
    (None, 5, 4)
    """
    sizes = [K.shape(x)[axis + 1] if n is None else n for axis, n in enumerate(x.shape[1:])]
    batch, time = like.shape[:2]
    if time is not None:
        return K.reshape(x, (-1 if batch is None else batch, time, *sizes))
    # There may be no step at all: then division does not tell how many samples there are.
    batch = K.shape(like)[0] if batch is None else batch
    return K.reshape(x, (batch, K.shape(like)[1], *sizes))

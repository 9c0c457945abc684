"""Constraints: functions that restrict a weight after each update.

A layer passes a constraint to `add_weight` (`kernel_constraint`). The optimizer applies the
constraint to the new value before the value is written. A constraint is a function from a tensor to
a tensor of the same shape. Keras has them in `keras.constraints`.

Constraints on norms sum over `axis`. For a Dense kernel (inputs, units), axis 0 limits the norm of
each unit. For the kernel of a 2-D convolution (rows, columns, channels, filters), `[0, 1, 2]`
limits the norm of each filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.configurable import Configured
from kerascope.registry import Registry

_registry = Registry("constraint")

Axis = int | Sequence[int]


class Constraint(Configured):
    """Base class of the constraints. This class does not change weights.

    Examples
    --------
    Your own constraint is a subclass:

    >>> class AtMostOne(Constraint):
    ...     def __call__(self, w):
    ...         return K.minimum(w, 1.0)
    >>> K.eval(AtMostOne()(K.constant([0.5, 3.0]))).tolist()
    [0.5, 1.0]
    """

    @at_once_on_arrays
    def __call__(self, w: Tensor) -> Tensor:
        """Return the constrained value of `w`."""
        return w


def _norms(w: Tensor, axis: Axis) -> Tensor:
    """Return the Euclidean norms along `axis`, with this axis kept at size 1."""
    return K.sqrt(K.sum(K.square(w), axis=axis, keepdims=True))


@_registry.alias("max_norm", "maxnorm")
class MaxNorm(Constraint):
    """Shortens each vector of a weight along `axis` that is longer than `max_value`.

    Parameters
    ----------
    max_value : float
        The greatest norm.
    axis : int or list of int
        The axes over which norms are computed.

    Notes
    -----
    `w * min(|w|, max_value) / (epsilon + |w|)`

    References
    ----------
    1. Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov: Dropout, JMLR 2014.

    Examples
    --------
    >>> K.eval(MaxNorm(2.0)(K.constant([[6.0, 0.3], [8.0, 0.4]]))).round(2).tolist()
    [[1.2..., 0.3...], [1.6..., 0.4...]]
    """

    def __init__(self, max_value: float = 2, axis: Axis = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    @at_once_on_arrays
    def __call__(self, w: Tensor) -> Tensor:
        """Return `w` with vectors longer than `max_value` shortened to this length."""
        norms = _norms(w, self.axis)
        desired = K.clip(norms, 0, self.max_value)
        return w * (desired / (K.epsilon() + norms))


@_registry.alias("non_neg", "nonneg")
class NonNeg(Constraint):
    """Replaces negative elements of a weight by 0.

    Examples
    --------
    >>> K.eval(NonNeg()([2.0, -3.0])).astype(int).tolist()
    [2, 0]
    """

    @at_once_on_arrays
    def __call__(self, w: Tensor) -> Tensor:
        """Return `w` with negative elements set to 0."""
        return w * K.cast(K.greater_equal(w, 0.0), K.dtype(w))


@_registry.alias("unit_norm", "unitnorm")
class UnitNorm(Constraint):
    """Gives each vector of a weight along `axis` the length 1.

    Parameters
    ----------
    axis : int or list of int
        The axes over which norms are computed.

    Examples
    --------
    The columns have the lengths 5 and 2:

    >>> K.eval(UnitNorm()([[3.0, 0.0], [4.0, 2.0]])).round(2).tolist()
    [[0.6..., 0.0], [0.8..., 1.0]]
    """

    def __init__(self, axis: Axis = 0) -> None:
        self.axis = axis

    @at_once_on_arrays
    def __call__(self, w: Tensor) -> Tensor:
        """Return `w / (epsilon + |w|)`."""
        return w / (K.epsilon() + _norms(w, self.axis))


@_registry.alias("min_max_norm", "minmaxnorm")
class MinMaxNorm(Constraint):
    """Moves the length of each vector of a weight into a range, or a fraction of the way there.

    Parameters
    ----------
    min_value, max_value : float
        The range of lengths.
    rate : float
        The fraction of the way to the range in one update: 1 is the whole way.
    axis : int or list of int
        The axes over which norms are computed.

    Notes
    -----
    With `n = |w|`: `w * (rate * clip(n, min_value, max_value) + (1 - rate) * n) / (epsilon + n)`

    Examples
    --------
    The vector of length 5 gets the length 1. With the rate 0.5 it goes half of the way, to 3:

    >>> for rate in (1.0, 0.5):
    ...     w = MinMaxNorm(0.0, 1.0, rate)([[3.0], [4.0]])
    ...     [round(x, 4) for x in K.eval(w).ravel().tolist()]
    [0.6, 0.8]
    [1.8, 2.4]
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Axis = 0
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    @at_once_on_arrays
    def __call__(self, w: Tensor) -> Tensor:
        """Return `w` with each vector rescaled towards the range of lengths."""
        norms = _norms(w, self.axis)
        nearest = K.clip(norms, self.min_value, self.max_value)
        desired = self.rate * nearest + (1 - self.rate) * norms
        return w * (desired / (K.epsilon() + norms))


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm

get = _registry.get
deserialize = _registry.deserialize


def serialize(constraint: Any) -> Any:
    """Convert a function to its name, and a constraint object to {"class_name", "config"}."""
    return _registry.serialize(constraint)

"""Regularizers: penalties on a weight or an output that are added to the loss.

A layer can have a regularizer for each weight (`kernel_regularizer`) and for its output
(`activity_regularizer`). A regularizer is a function from a tensor to a scalar tensor. Keras has
them in `keras.regularizers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.configurable import Configured
from kerascope.errors import ArgumentError, ShapeError
from kerascope.registry import Registry
from kerascope.user_frames import warn

_registry = Registry("regularizer")


class Regularizer(Configured):
    """Base class of the regularizers, with a penalty of zero.

    Examples
    --------
    Your own penalty is a subclass, here on the distance of the sum from 1:

    >>> class SumOfOne(Regularizer):
    ...     def __call__(self, x):
    ...         return K.square(K.sum(x) - 1.0)
    >>> float(K.eval(SumOfOne()(K.constant([2.0, 1.0]))))
    4.0
    """

    @at_once_on_arrays
    def __call__(self, x: Tensor) -> Tensor | float:
        """Return the penalty on `x`, a scalar."""
        return 0.0

    def set_param(self, _: Any) -> None:
        """Do nothing but warn. Keras 1 has this method, where it also does nothing."""
        warn("Regularizer.set_param has no effect. Pass the regularizer to add_weight.")

    def set_layer(self, _: Any) -> None:
        """Do nothing but warn. Keras 1 has this method, where it also does nothing."""
        warn("Regularizer.set_layer has no effect. Pass the regularizer to a layer.")


@_registry.alias("WeightRegularizer", "ActivityRegularizer", "l1l2", "l1_l2", "activity_l1l2")
class L1L2(Regularizer):
    """Penalty by the sum of absolute values, the sum of squares, or both sums.

    Parameters
    ----------
    l1 : float
        Factor of the sum of absolute values.
    l2 : float
        Factor of the sum of squares.

    Notes
    -----
    `penalty(x) = l1 * sum |x_i| + l2 * sum x_i^2`

    Examples
    --------
    >>> float(K.eval(L1L2(l1=1.0, l2=0.5)(K.constant([3.0, -4.0]))))
    19.5
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = float(l1)
        self.l2 = float(l2)

    @at_once_on_arrays
    def __call__(self, x: Tensor) -> Tensor | float:
        """Return the penalty on `x`; 0.0 if `l1` and `l2` are 0."""
        penalties = []
        if self.l1:
            penalties.append(self.l1 * K.sum(K.abs(x)))
        if self.l2:
            penalties.append(self.l2 * K.sum(K.square(x)))
        if not penalties:
            return 0.0
        return penalties[0] if len(penalties) == 1 else penalties[0] + penalties[1]


@_registry.alias("l1", "activity_l1")
class L1(L1L2):
    """`L1L2` with only the sum of absolute values: the class for "l1" in Keras 3's files.

    Examples
    --------
    >>> float(L1(0.5)([3.0, -4.0]))
    3.5
    >>> L1(0.5)
    L1(l1=0.5)
    """

    def __init__(self, l1: float = 0.01) -> None:
        super().__init__(l1=l1)


@_registry.alias("l2", "activity_l2")
class L2(L1L2):
    """`L1L2` with only the sum of squares: the class for "l2" in Keras 3's files.

    Examples
    --------
    >>> float(L2(0.5)([3.0, -4.0]))
    12.5
    """

    def __init__(self, l2: float = 0.01) -> None:
        super().__init__(l2=l2)


@_registry.alias("orthogonal_regularizer")
class OrthogonalRegularizer(Regularizer):
    """Penalty on rows (or columns) of a matrix that are not orthogonal.

    Parameters
    ----------
    factor : float
        Factor of the penalty.
    mode : {"rows", "columns"}
        Whether the rows or the columns should be orthogonal.

    Raises
    ------
    ArgumentError
        If `mode` is invalid.
    ShapeError
        If the weight is not a matrix.

    Notes
    -----
    `factor * mean |cos angle(i, j)|` over all pairs of different rows.

    Examples
    --------
    Orthogonal rows cost nothing. Between the rows (1, 0) and (3, 4), the cosine is 0.6:

    >>> penalty = OrthogonalRegularizer(factor=1.0)
    >>> [round(float(penalty([[1.0, 0.0], row])), 4) for row in ([0.0, 5.0], [3.0, 4.0])]
    [0.0, 0.6]
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        if mode not in ("rows", "columns"):
            raise ArgumentError(
                f"OrthogonalRegularizer: expected mode 'rows' or 'columns', got {mode!r}."
            )
        self.factor = float(factor)
        self.mode = mode

    @at_once_on_arrays
    def __call__(self, x: Tensor) -> Tensor:
        """Return the penalty on the matrix `x`."""
        if K.ndim(x) != 2 or None in K.int_shape(x):
            raise ShapeError(
                f"OrthogonalRegularizer: expected a matrix, got shape {K.int_shape(x)}.", subject=x
            )
        rows = x if self.mode == "rows" else K.transpose(x)
        rows = K.l2_normalize(rows, axis=1)
        size: Any = K.int_shape(rows)[0]
        others = K.abs(K.dot(rows, K.transpose(rows))) * (1.0 - np.eye(size))
        pairs = size * (size - 1.0) / 2.0
        return self.factor * 0.5 * K.sum(others) / pairs


class EigenvalueRegularizer(Regularizer):
    """Penalty of `k` times the largest singular value of a matrix, from Keras 1.

    Parameters
    ----------
    k : float
        Factor of the penalty.

    Raises
    ------
    ShapeError
        If the weight is not a matrix.

    Notes
    -----
    The singular value is approximated by ten steps of the power method on W^T W, from a vector of
    ones.

    Examples
    --------
    The singular values of a diagonal matrix are the numbers on its diagonal:

    >>> round(float(EigenvalueRegularizer(0.5)([[4.0, 0.0], [0.0, 1.0]])), 4)
    2.0
    """

    def __init__(self, k: float) -> None:
        self.k = float(k)

    @at_once_on_arrays
    def __call__(self, x: Tensor) -> Tensor:
        """Return the penalty on the matrix `x`."""
        if K.ndim(x) != 2 or None in K.int_shape(x):
            raise ShapeError(
                f"EigenvalueRegularizer: expected a matrix, got shape {K.int_shape(x)}.", subject=x
            )
        square = K.dot(K.transpose(x), x)
        vector = K.ones_like(square[:, :1])
        for _ in range(10):
            vector = K.dot(square, vector)
        share = K.sum(K.dot(square, vector) * vector) / K.sum(vector * vector)
        return self.k * K.sqrt(share)


_registry.register(EigenvalueRegularizer)


def l1(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name
    """Return the penalty `l * sum |x_i|`."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name
    """Return the penalty `l * sum x_i^2`."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Return the penalty `l1 * sum |x_i| + l2 * sum x_i^2`."""
    return L1L2(l1=l1, l2=l2)


# Keras 1 had different functions for weights and activities; now the layer's argument decides.
WeightRegularizer = ActivityRegularizer = L1L2Regularizer = L1L2
activity_l1 = l1
activity_l2 = l2
l1l2 = activity_l1l2 = l1_l2
orthogonal_regularizer = OrthogonalRegularizer

deserialize = _registry.deserialize


def serialize(regularizer: Any) -> Any:
    """Convert a function to its name, and a regularizer object to {"class_name", "config"}."""
    return _registry.serialize(regularizer)


def get(identifier: Any) -> Callable[[Tensor], Tensor | float] | None:
    """Return the regularizer for a name or a configuration; objects and None stay unchanged.

    The names "l1_l2", "l1l2" and "activity_l1l2" set both factors to 0.01, like the functions of
    the same names.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message suggests the most similar one.

    Examples
    --------
    >>> get("l2")
    L2(l2=0.01)
    >>> get("l1_l2")
    L1L2(l1=0.01, l2=0.01)
    """
    if identifier in ("l1_l2", "l1l2", "activity_l1l2"):
        return l1_l2()
    return _registry.get(identifier)

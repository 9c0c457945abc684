"""Layers that turn numbers into categories, and categories into rows of zeros and ones.

`Discretization` says in which interval a number lies, `CategoryEncoding` marks the categories of a
sample; what it does, `encoded`, the lookups in `vocabularies.py` do too. Both work on arrays and
inside a model. Keras 3 has them under `keras.layers`, in its folder `preprocessing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.indexing import OneHot
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, RefusedError, ShapeError
from kerascope.layers.arguments import positive_int
from kerascope.layers.keras_ops_numpy import digitize

__all__ = ["CategoryEncoding", "Discretization"]

MODES = ("one_hot", "multi_hot", "count")


def check_mode(layer: Layer, mode: Any, sparse: bool, expected: Sequence[str] = MODES) -> Any:
    """Return an `output_mode` that is one of those expected."""
    if sparse:
        raise RefusedError(f"{layer.label}: sparse=True: no tensor is sparse here. Leave it out.")
    if mode not in expected:
        names = ", ".join(map(repr, expected))
        raise ArgumentError(f"{layer.label}: output_mode {mode!r}; expected one of {names}.")
    return mode


def shape_of_encoded(shape: Shape, mode: str, depth: int, label: str) -> Shape:
    """Return the shape of what `encoded` makes of categories of a shape."""
    if mode == "one_hot":
        return (*(shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape or (1,)), depth)
    if len(shape) > 2 and shape[-1] == 1:
        raise ShapeError(
            f"{label}: categories have shape {shape}; expected a last axis of more than 1, along "
            f"which they are marked together. Squeeze it, or use output_mode='one_hot'."
        )
    return (*shape[:-1], depth)


def encoded(
    categories: Any, mode: str, depth: int, dtype: str, label: str, weights: Any = None
) -> Tensor:
    """Return a row of `depth` numbers for each category, or for those along the last axis.

    Parameters
    ----------
    categories : Tensor or np.ndarray, of whole numbers
        One that is not in [0, depth) is marked nowhere.
    mode : {"one_hot", "multi_hot", "count"}
        A 1 for each category; for those along the last axis together; how often each is there.
    depth : int
    dtype : str
    label : str
        What the layer is called in an error.
    weights : Tensor, optional
        What each category counts instead of 1.

    Raises
    ------
    ShapeError
        Several categories are wanted together, but the last of many axes has only one.
    """
    shape = shape_of_encoded(categories.shape, mode, depth, label)
    rows = OneHot(depth, dtype)(categories)
    if mode == "one_hot":
        squeezed = len(shape) < rows.ndim
        return K.squeeze(rows, -2) if squeezed else rows if rows.ndim > 1 else rows[None]
    if rows.ndim == 1:
        return rows
    if mode == "multi_hot":
        return K.max(rows, axis=-2)
    return K.sum(rows if weights is None else rows * K.expand_dims(weights, -1), axis=-2)


class CategoryEncoding(Layer):
    """Marks categories, given as whole numbers, in rows of zeros.

    Parameters
    ----------
    num_tokens : int
        Number of categories.
    output_mode : {"multi_hot", "one_hot", "count"}
        What is marked: see `encoded`.
    sparse : bool
        Keras 3's; only False is possible here.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> CategoryEncoding(4)(np.array([[0, 1], [3, 3]])).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: str = "multi_hot",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_tokens = positive_int(num_tokens, f"{self.label}: num_tokens")
        self.output_mode = check_mode(self, output_mode, sparse)

    def call(self, inputs: Tensor, count_weights: Tensor | None = None) -> Tensor:
        """Return the marked rows; `count_weights` is what each category counts instead of 1."""
        if count_weights is not None:
            if self.output_mode != "count":
                raise ArgumentError(f"{self.label}: count_weights need output_mode='count'.")
            count_weights = K.cast(count_weights, self.dtype)
        return encoded(
            inputs, self.output_mode, self.num_tokens, self.dtype, self.label, count_weights
        )

    def compute_output_shape(self, input_shape: Shape, count_weights_shape: Any = None) -> Shape:
        """Return the shape with an axis of `num_tokens`."""
        return shape_of_encoded(input_shape, self.output_mode, self.num_tokens, self.label)


class Discretization(Layer):
    """Says in which of several intervals each number lies.

    Parameters
    ----------
    bin_boundaries : list of float, optional
        Where the intervals end: n borders make n + 1 of them. A border belongs to the right one.
    num_bins : int, optional
        Instead of borders: how many intervals `adapt` shall make, with equally many numbers in
        each.
    epsilon : float
        How exactly: the shares of numbers are right up to this.
    output_mode : {"int", "one_hot", "multi_hot", "count"}
        Numbers of intervals, or rows in which they are marked: see `CategoryEncoding`.
    sparse : bool
        Keras 3's; only False is possible here.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        Both or neither of `bin_boundaries` and `num_bins` are given; or it is called without
        borders.

    Examples
    --------
    >>> Discretization([0.0, 1.0])(np.array([-1.0, 0.0, 0.5, 3.0])).tolist()
    [0, 1, 1, 2]
    """

    def __init__(
        self,
        bin_boundaries: Sequence[float] | None = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        given = bin_boundaries is not None
        if given == (num_bins is not None) and not given:
            raise ArgumentError(f"{self.label}: expected bin_boundaries or num_bins.")
        self.output_mode = check_mode(self, output_mode, sparse, ("int", *MODES))
        self.bin_boundaries = None if bin_boundaries is None else [float(x) for x in bin_boundaries]
        self.num_bins, self.epsilon = num_bins, epsilon

    def adapt(self, data: Any) -> None:
        """Take borders from an array of numbers, so that equally many lie in each interval.

        Of the sorted numbers every n-th is kept, about 1 / epsilon of them; a border lies between
        two of these as its share lies between theirs.
        """
        if self.num_bins is None:
            raise ArgumentError(f"{self.label}: adapt, but bin_boundaries were given.")
        numbers = np.sort(np.asarray(data, "float32"), axis=None)
        step = max(int(numbers.size / (1.0 / self.epsilon)), 1)
        kept = numbers[step - 1 :: step]
        shares = np.arange(1, len(kept) + 1) / len(kept)
        if len(kept) * self.epsilon >= 1:
            grid = self.epsilon + np.arange(0.0, 1.0, self.epsilon)
            kept, shares = np.interp(grid, shares, kept), np.clip(grid, shares[0], 1.0)
        wanted = np.arange(1, self.num_bins) / self.num_bins
        self.bin_boundaries = np.interp(wanted, shares, kept).tolist()

    def call(self, inputs: Tensor) -> Tensor:
        """Return the number of the interval for each number, or the marked rows."""
        if self.bin_boundaries is None:
            raise ArgumentError(f"{self.label}: has no borders yet. Call adapt(data) first.")
        places = digitize(inputs, np.asarray(self.bin_boundaries, "float32"))
        if self.output_mode == "int":
            return places
        depth = len(self.bin_boundaries) + 1
        return encoded(places, self.output_mode, depth, self.dtype, self.label)

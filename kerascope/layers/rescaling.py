"""Layers that shift and scale their inputs by fixed numbers, without training.

`Rescaling` is told the numbers, such as 1/255 for images; `Normalization` takes them from data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, broadcast_shapes, normalize_axes
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["Normalization", "Rescaling"]


class Rescaling(Layer):
    """Multiplies the inputs by a fixed factor and adds a fixed offset.

    Parameters
    ----------
    scale : float or list of float
        The factor; a list has one for each feature of the last axis.
    offset : float or list of float
        What is added.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = inputs * scale + offset, in the layer's dtype: images of uint8 become floats.

    Examples
    --------
    >>> import numpy as np
    >>> Rescaling(1 / 127.5, offset=-1)(np.array([[0, 255]], "uint8")).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = scale
        self.offset = offset
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs times the scale plus the offset."""
        scale, offset = (K.constant(value, self.dtype) for value in (self.scale, self.offset))
        return K.cast(inputs, self.dtype) * scale + offset

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape, or what a list of factors stretches it to."""
        return broadcast_shapes(input_shape, np.shape(self.scale), np.shape(self.offset))


class Normalization(Layer):
    """Gives each feature mean 0 and variance 1, by numbers that `adapt` takes from data.

    Parameters
    ----------
    axis : int, list of int or None
        Axes that keep numbers of their own; None has one mean and one variance for everything.
    mean, variance : float or array_like, optional
        Given instead of adapting; both or neither. An array has the sizes of `axis`.
    invert : bool
        Whether it undoes the normalisation.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        Only one of mean and variance is given.
    ShapeError
        They do not have the sizes of `axis`.

    Notes
    -----
    output = (inputs - mean) / max(sqrt(variance), epsilon)

    Examples
    --------
    >>> layer = Normalization()
    >>> layer.adapt(np.array([[1.0, 10.0], [3.0, 50.0]]))
    >>> layer(np.array([[3.0, 10.0]])).tolist()
    [[1.0, -1.0]]
    """

    def __init__(
        self,
        axis: int | Sequence[int] | None = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ArgumentError(f"{self.label}: expected mean and variance, or neither.")
        self.axis = axis if axis is None or isinstance(axis, int) else list(axis)
        self.mean, self.variance = mean, variance
        self._is_given = mean is not None
        self.invert = bool(invert)
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        """Make the weights `mean`, `variance` and `count`, if they are to come from data."""
        axes = () if self.axis is None else self.axis
        self._kept = () if axes == () else normalize_axes(axes, len(input_shape), self.label)
        if None in [input_shape[a] for a in self._kept]:
            raise ShapeError(
                f"{self.label}: the sizes of axes {self._kept} of {input_shape} are not known; "
                f"expected numbers. Give the Input these sizes.",
                subject=self,
            )
        sizes = tuple(input_shape[a] for a in self._kept)
        if self._is_given:
            self._check_given(sizes)
        else:
            self.adapted_mean = self.add_weight("mean", sizes, initializer="zeros", trainable=False)
            self.adapted_variance = self.add_weight(
                "variance", sizes, initializer="ones", trainable=False
            )
            self.count = self.add_weight(
                "count", (), initializer="zeros", trainable=False, dtype="int32"
            )
        self.built = True

    def _check_given(self, sizes: Shape) -> None:
        """Refuse a mean or variance that has other sizes than the axes that it is for.

        Raises
        ------
        ShapeError
            It has, or it has more axes than there are.
        """
        for word, value in (("mean", self.mean), ("variance", self.variance)):
            shape = np.shape(value)
            padded = (1,) * (len(sizes) - len(shape)) + shape
            if len(padded) > len(sizes) or any(
                n not in (1, size) for n, size in zip(padded, sizes, strict=True)
            ):
                raise ShapeError(
                    f"{self.label}: {word} has shape {shape}; expected {sizes}, a number for each "
                    f"entry of axis {self.axis}.",
                    subject=self,
                )

    def adapt(self, data: Any) -> None:
        """Take mean and variance from an array of samples."""
        if self._is_given:
            raise ArgumentError(f"{self.label}: adapt, but mean and variance were given.")
        data = np.asarray(data)
        if not self.built:
            self(data[:1])
        others = tuple(a for a in range(data.ndim) if a not in self._kept)
        count = np.prod([data.shape[a] for a in others], dtype=int)
        self.set_weights([data.mean(others), data.var(others), count])

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs shifted and scaled."""
        inputs = K.cast(inputs, self.dtype)
        mean, variance = self._numbers(K.ndim(inputs))
        spread = K.maximum(K.sqrt(variance), K.epsilon())
        return inputs * spread + mean if self.invert else (inputs - mean) / spread

    def _numbers(self, ndim: int) -> tuple[Tensor, Tensor]:
        """Return mean and variance with an axis of size 1 where they have none."""
        mean: Any = self.mean
        variance: Any = self.variance
        if self._is_given:
            axes = np.ones((1,) * len(self._kept))  # a single number has none yet
            mean, variance = (K.constant(x * axes, self.dtype) for x in (mean, variance))
        else:
            mean, variance = self.adapted_mean, self.adapted_variance
        for axis in range(ndim):
            if axis not in self._kept:
                mean, variance = K.expand_dims(mean, axis), K.expand_dims(variance, axis)
        return mean, variance

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape

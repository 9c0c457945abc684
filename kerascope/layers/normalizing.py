"""Layers that normalise each sample by itself: no batch, no moving averages.

So they compute the same in training and in test, unlike `BatchNormalization`. They came with
Keras 3 (and tf.keras); Keras 2.2 has none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape, normalize_axes, normalize_axis
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import positive_int

__all__ = ["GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization"]

Axis = int | Sequence[int]


class _Normalizing(Layer):
    """Base: axes that are checked, and weights that have the sizes of these axes."""

    axis: Any

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _axes(self, ndim: int) -> tuple[int, ...]:
        axis = self.axis if isinstance(self.axis, int) else tuple(self.axis)
        return normalize_axes(axis, ndim, f"{self.label}: axis")

    def _known_sizes(self, input_shape: Shape) -> tuple[int, ...]:
        """Return the sizes of the axes.

        Raises
        ------
        ShapeError
            One is not known.
        """
        sizes: list[int] = []
        for axis in self._axes(len(input_shape)):
            size = input_shape[axis]
            if size is None:
                raise ShapeError(
                    f"{self.label}: the size of axis {axis} of {input_shape} is not known; "
                    f"expected a number, since it has weights of that size. Give the Input that "
                    f"size.",
                    subject=self,
                )
            sizes.append(size)
        return tuple(sizes)

    def _make_weight(self, word: str, sizes: Shape) -> Variable:
        """Make `gamma` or `beta`, from the arguments that begin with its name."""
        return self.add_weight(
            name=word,
            shape=sizes,
            initializer=getattr(self, f"{word}_initializer"),
            regularizer=getattr(self, f"{word}_regularizer", None),
            constraint=getattr(self, f"{word}_constraint", None),
        )

    def _along_axes(self, weight: Tensor, ndim: int) -> Tensor:
        """Return a weight with an axis of size 1 for each axis of the inputs that it lacks."""
        axes = self._axes(ndim)
        for axis in range(axes[0] + 1, ndim):
            if axis not in axes:
                weight = K.expand_dims(weight, axis - axes[0])
        return weight

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class _ScaledAndShifted(_Normalizing):
    """Base of the two that multiply by `gamma` and add `beta` afterwards."""

    def __init__(
        self,
        center: bool,
        scale: bool,
        beta: tuple[Any, Any, Any],
        gamma: tuple[Any, Any, Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = initializers.get(beta[0])
        self.beta_regularizer = regularizers.get(beta[1])
        self.beta_constraint = constraints.get(beta[2])
        self.gamma_initializer = initializers.get(gamma[0])
        self.gamma_regularizer = regularizers.get(gamma[1])
        self.gamma_constraint = constraints.get(gamma[2])

    def build(self, input_shape: Shape) -> None:
        """Make gamma and beta, of the sizes of the axes."""
        sizes = self._known_sizes(input_shape)
        self.gamma = self._make_weight("gamma", sizes) if self.scale else None
        self.beta = self._make_weight("beta", sizes) if self.center else None
        axes = self._axes(len(input_shape))
        self.input_spec = InputSpec(ndim=len(input_shape), axes=dict(zip(axes, sizes, strict=True)))
        self.built = True

    def _scaled_and_shifted(self, x: Tensor) -> Tensor:
        if self.gamma is not None:
            x = x * self._along_axes(self.gamma, K.ndim(x))
        if self.beta is not None:
            x = x + self._along_axes(self.beta, K.ndim(x))
        return x


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """Return `x` with mean 0 and variance 1 over the axes."""
    distance = x - K.mean(x, axis=list(axes), keepdims=True)
    variance = K.mean(K.square(distance), axis=list(axes), keepdims=True)
    return distance / K.sqrt(variance + epsilon)


class LayerNormalization(_ScaledAndShifted):
    """Gives the features of each sample mean 0 and variance 1.

    Parameters
    ----------
    axis : int or list of int
        Over which axes mean and variance are taken; -1 takes the features of each time step.
    epsilon : float
        Added to the variance, to keep the division finite.
    center, scale : bool
        Whether `beta` is added, and whether it is multiplied by `gamma`.
    beta_initializer, gamma_initializer : str, callable or object
        First offset and scale.
    beta_regularizer, gamma_regularizer : str, callable or object, optional
        Penalties.
    beta_constraint, gamma_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, where mean and variance of
    each sample are those over `axis`, and gamma and beta have the sizes of these axes.

    References
    ----------
    1. Ba, Kiros, Hinton: Layer Normalization, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> LayerNormalization()(np.array([[1.0, 3.0], [20.0, 60.0]])).round(2).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(
        self,
        axis: Axis = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        beta = (beta_initializer, beta_regularizer, beta_constraint)
        gamma = (gamma_initializer, gamma_regularizer, gamma_constraint)
        super().__init__(center, scale, beta, gamma, **kwargs)
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon

    def call(self, inputs: Tensor) -> Tensor:
        """Return the normalised inputs."""
        axes = self._axes(K.ndim(inputs))
        return self._scaled_and_shifted(_normalized(inputs, axes, self.epsilon))


class GroupNormalization(_ScaledAndShifted):
    """Gives each group of channels of each sample mean 0 and variance 1.

    Parameters
    ----------
    groups : int
        Into how many groups the channels are divided; -1 makes each channel its own group.
    axis : int
        Where the channels lie.
    epsilon, center, scale, beta_initializer, gamma_initializer
        As for `LayerNormalization`.
    beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint
        As for `LayerNormalization`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The number of channels is no multiple of `groups`.

    Notes
    -----
    Mean and variance are taken over all axes but the batch, and over the channels of a group. gamma
    and beta have one number for each channel. One group of all channels is layer normalisation over
    all axes.

    References
    ----------
    1. Wu, He: Group Normalization, ECCV 2018.

    Examples
    --------
    >>> import numpy as np
    >>> GroupNormalization(groups=2)(np.array([[1.0, 3.0, 20.0, 60.0]])).round(2).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        beta = (beta_initializer, beta_regularizer, beta_constraint)
        gamma = (gamma_initializer, gamma_regularizer, gamma_constraint)
        super().__init__(center, scale, beta, gamma, **kwargs)
        self.groups = -1 if groups == -1 else positive_int(groups, f"{self.label}: groups")
        self.axis = int(axis)
        self.epsilon = epsilon

    def build(self, input_shape: Shape) -> None:
        """Make gamma and beta, one number for each channel."""
        (channels,) = self._known_sizes(input_shape)
        if self.groups == -1:
            self.groups = channels
        if normalize_axis(self.axis, len(input_shape)) == 0:
            raise ArgumentError(f"{self.label}: axis {self.axis} counts the samples.", subject=self)
        if channels % self.groups:
            raise ShapeError(
                f"{self.label}: {channels} channels on axis {self.axis} of {input_shape} cannot be "
                f"divided into {self.groups} groups; expected a multiple. Set groups to a divisor "
                f"of {channels}.",
                subject=self,
            )
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the normalised inputs."""
        shape, axis = K.shape(inputs), normalize_axis(self.axis, K.ndim(inputs))
        sizes = [shape[a] for a in range(K.ndim(inputs))]
        channels = K.int_shape(inputs)[axis]
        assert channels is not None
        groups = [self.groups, channels // self.groups]
        grouped = K.reshape(inputs, K.stack([*sizes[:axis], *groups, *sizes[axis + 1 :]]))
        axes = [a for a in range(1, K.ndim(inputs) + 1) if a != axis]
        normalized = K.reshape(_normalized(grouped, axes, self.epsilon), shape)
        return self._scaled_and_shifted(normalized)


class UnitNormalization(_Normalizing):
    """Gives each sample the length 1 along an axis.

    Parameters
    ----------
    axis : int or list of int
        Over which axes the length is taken.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = inputs / sqrt(sum inputs^2), where a sum below 1e-12 counts as 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> UnitNormalization()(np.array([[3.0, 4.0]])).round(2).tolist()
    [[0.6..., 0.8...]]
    """

    def __init__(self, axis: Axis = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis if isinstance(axis, int) else list(axis)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs divided by their length."""
        return K.l2_normalize(inputs, axis=list(self._axes(K.ndim(inputs))))


class RMSNormalization(_Normalizing):
    """Divides the features of each sample by the root of their mean square.

    Parameters
    ----------
    axis : int or list of int
        Over which axes the mean is taken.
    epsilon : float
        Added to the mean square, to keep the division finite.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = scale * inputs / sqrt(mean inputs^2 + epsilon), with a weight `scale` of the sizes of
    the axes. It is layer normalisation without the mean.

    References
    ----------
    1. Zhang, Sennrich: Root Mean Square Layer Normalization, NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> RMSNormalization()(np.array([[1.0, 7.0]])).round(1).tolist()
    [[0.2..., 1.39...]]
    """

    scale_initializer = "ones"

    def __init__(self, axis: Axis = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = not self._ends_masks  # a mask ends here in Keras 3
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon

    def build(self, input_shape: Shape) -> None:
        """Make the weight `scale`."""
        self.scale = self._make_weight("scale", self._known_sizes(input_shape))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs divided by the root of their mean square, and scaled."""
        axes = list(self._axes(K.ndim(inputs)))
        mean_square = K.mean(K.square(inputs), axis=axes, keepdims=True)
        scaled = inputs / K.sqrt(mean_square + self.epsilon)
        return scaled * self._along_axes(self.scale, K.ndim(inputs))

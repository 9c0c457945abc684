"""Normalization layers: BatchNormalization, normalisation of each sample, Rescaling.

BatchNormalization gives its inputs mean 0 and variance 1, feature by feature. It has everything
that a layer can have: trained and untrained weights, different formulas in training and in test,
and updates that belong to a call. The layers after it in this file use neither the batch nor moving
averages; Rescaling and Normalization shift and scale by fixed numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Placeholder, Tensor, is_eager
from kerascope.backend.ops.reduction import CountOver
from kerascope.backend.shapes import Shape, broadcast_shapes, normalize_axes, normalize_axis
from kerascope.backend.variables import Variable
from kerascope.configurable import by_name, plain
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers.arguments import Identifier, Training, make_weight, positive_int
from kerascope.spellings import dialect_options
from kerascope.user_frames import warn

__all__ = [
    "BatchNormalization",
    "GroupNormalization",
    "LayerNormalization",
    "Normalization",
    "RMSNormalization",
    "Rescaling",
    "UnitNormalization",
]

Axis = int | Sequence[int]


class BatchNormalization(Layer):
    """Normalises each feature, with batch statistics in training and moving averages in test.

    Parameters
    ----------
    axis : int
        Axis of the features: -1, or 1 for images with "channels_first".
    momentum : float
        Factor of the old moving average at each step.
    epsilon : float
        Added to the variance, to keep the division finite.
    center, scale : bool
        Whether `beta` is added, and whether `gamma` is a factor.
    beta_initializer, gamma_initializer : str, callable or object
        Initial offset and scale.
    moving_mean_initializer, moving_variance_initializer : str, callable or object
        Initial moving averages.
    beta_regularizer, gamma_regularizer : str, callable or object, optional
        Penalties on `beta` and `gamma`.
    beta_constraint, gamma_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, and in training::

        moving_mean     = momentum * moving_mean     + (1 - momentum) * mean
        moving_variance = momentum * moving_variance + (1 - momentum) * variance

    `mean` and `variance` are taken over the n values of the feature in the batch. The variance is
    the sum of the squared distances from the mean, divided by n. In dialect "2.2" the moving
    variance is the average of variance * n / (n - 1 - epsilon) instead, as in Keras 2.2.4 (Bessel's
    correction, because the mean is estimated too). The corrected variance is 14 % greater for n =
    8, and nearly equal for large n. For n = 1 both variances are 0, but with epsilon 0 the
    corrected variance is NaN. The averages start from their initial values, as in Keras on Theano;
    Keras 2.2.4 on TensorFlow removes the influence of the initial values (`zero_debias`).

    The two updates belong to the inputs of one call: a model that does not contain this call does
    not run its updates. If a model contains several calls of the layer, each call starts from the
    averages after the call before it.

    If the layer is frozen (`trainable = False`), training does not change the moving averages. In
    dialect "3" a frozen layer normalises by the moving averages, as in test. In other dialects it
    still normalises by the statistics of the batch. The
    train function uses the value of `trainable` at the time when the function is made: call
    `compile` again after a change.

    References
    ----------
    1. Ioffe, Szegedy: Batch Normalization: Accelerating Deep Network Training by Reducing Internal
       Covariate Shift, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> layer = BatchNormalization(momentum=0.5)
    >>> layer(np.array([[1.0], [3.0]]), training=True).round(2).tolist()
    [[-1.0], [1.0]]
    >>> [w.round(2).tolist() for w in layer.get_weights()]      # gamma, beta, the moving averages
    [[1.0], [0.0], [1.0], [1.5]]
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        moving_mean_initializer: Identifier = "zeros",
        moving_variance_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        self._mode = _mode_of_keras_1(kwargs)
        super().__init__(**kwargs)
        self.axis = int(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True
        self._tests_when_frozen = dialect_options().freezes_inside
        self._corrects_variance = dialect_options().corrects_variance

    def build(self, input_shape: Shape) -> None:
        """Make gamma, beta, moving_mean and moving_variance: one number for each feature."""
        axis = normalize_axis(self.axis, len(input_shape), f"{self.label}: axis")
        size = input_shape[axis]
        if size is None:
            raise ShapeError(
                f"{self.label}: expected a known size of axis {self.axis}, since each feature has "
                f"its own weights, got an input of shape {input_shape}. Give the Input that "
                f"size.",
                subject=self,
            )
        self.gamma = make_weight(self, "gamma", (size,)) if self.scale else None
        self.beta = make_weight(self, "beta", (size,)) if self.center else None
        self.moving_mean = self._moving_average("moving_mean", size, self.moving_mean_initializer)
        self.moving_variance = self._moving_average(
            "moving_variance", size, self.moving_variance_initializer
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={axis: size})
        self.built = True

    def _moving_average(self, word: str, size: int, initializer: Identifier) -> Variable:
        return self.add_weight(name=word, shape=(size,), initializer=initializer, trainable=False)

    def call(self, inputs: Tensor, training: Training = None, mask: Tensor | None = None) -> Tensor:
        """Return the normalised inputs, and add the updates of the moving averages.

        In dialect "3", mean and variance ignore masked entries.
        """
        if self._mode != 0:
            return self._normalized_by_mode(inputs)
        training = K.learning_phase() if training is None else training
        if self._tests_when_frozen and is_eager():
            training = training and self.trainable
        if not isinstance(training, Tensor) and not training:
            return self._normalized_for_test(inputs)
        axis = self.axis % K.ndim(inputs)
        others = [a for a in range(K.ndim(inputs)) if a != axis]
        if mask is not None and self._ends_masks:
            normalized, mean, variance, count = self._normalized_by_masked(inputs, mask, others)
        else:
            normalized, mean, variance = K.normalize_batch_in_training(
                inputs, self.gamma, self.beta, others, epsilon=self.epsilon
            )
            count = CountOver(tuple(others), _wide(variance))(inputs)
        if self._corrects_variance:
            variance = self._corrected(variance, count)
        self.add_update(
            [
                K.moving_average_update(self.moving_mean, mean, self.momentum),
                K.moving_average_update(self.moving_variance, variance, self.momentum),
            ],
            inputs,
        )
        if self._tests_when_frozen and not is_eager():
            # Two nested choices, so that each condition is constant when a program is compiled.
            normalized = K.in_train_phase(
                normalized, lambda: self._normalized_for_test(inputs), _TrainableFlag(self)
            )
        return K.in_train_phase(normalized, lambda: self._normalized_for_test(inputs), training)

    def _normalized_by_masked(self, inputs: Tensor, mask: Tensor, axes: list[int]) -> list[Tensor]:
        """Return the normalised inputs, and mean, variance and count of the unmasked entries."""
        kept = K.cast(K.expand_dims(mask, -1), inputs.dtype) * K.ones_like(inputs)
        count = K.sum(kept, axes, keepdims=True) + K.epsilon()
        mean = K.sum(inputs * kept, axes, keepdims=True) / count
        variance = K.sum(K.square((inputs - mean) * kept), axes, keepdims=True) / count
        mean, variance, count = K.flatten(mean), K.flatten(variance), K.flatten(count)
        normalized = K.batch_normalization(
            inputs, mean, variance, self.beta, self.gamma, axis=self.axis, epsilon=self.epsilon
        )
        return [normalized, mean, variance, count]

    def _corrected(self, variance: Tensor, count: Tensor) -> Tensor:
        """Return the variance of n values times n / (n - 1 - epsilon), as in Keras 2.2.4.

        A compiled program computes this factor once, from the shapes.
        """
        count = K.cast(count, _wide(variance))
        return variance * K.cast(count / (count - (1.0 + self.epsilon)), variance.dtype)

    def _normalized_by_mode(self, inputs: Tensor) -> Tensor:
        """Return the inputs normalised by mode 1 or 2 of Keras 1, without moving averages.

        Mode 1 uses the mean and standard deviation of each sample. Mode 2 uses those of the batch,
        in test too.
        """
        if self._mode == 1:
            mean = K.mean(inputs, axis=-1, keepdims=True)
            deviation = K.sqrt(K.var(inputs, axis=-1, keepdims=True) + self.epsilon)
            normalized = (inputs - mean) / (deviation + self.epsilon)
            normalized = normalized if self.gamma is None else normalized * self.gamma
            return normalized if self.beta is None else normalized + self.beta
        axis = self.axis % K.ndim(inputs)
        others = [a for a in range(K.ndim(inputs)) if a != axis]
        return K.normalize_batch_in_training(
            inputs, self.gamma, self.beta, others, epsilon=self.epsilon
        )[0]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, and Keras 1's `mode` if it is not 0."""
        config = super().get_config()
        return {**config, "mode": self._mode} if self._mode else config

    def _normalized_for_test(self, inputs: Tensor) -> Tensor:
        return K.batch_normalization(
            inputs,
            self.moving_mean,
            self.moving_variance,
            self.beta,
            self.gamma,
            axis=self.axis,
            epsilon=self.epsilon,
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


def _wide(x: Tensor) -> str:
    """Return the dtype of `x`, but float32 for float16, which cannot represent a count of 2049."""
    return "float32" if x.dtype == "float16" else x.dtype


class _TrainableFlag(Placeholder):
    """A placeholder: 0 in functions made while its layer is frozen, 1 in all other functions."""

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        super().__init__((), "float32", f"{layer.name}/thawed")
        self.layer = layer

    @property
    def default(self) -> float:  # type: ignore[override]
        """The value in functions that are made now: 1 if the layer is trainable, 0 otherwise."""
        return float(self.layer.trainable)

    @default.setter
    def default(self, value: None) -> None:
        """Ignore an assigned value, because the default follows from the layer's `trainable`."""


def _mode_of_keras_1(kwargs: dict[str, Any]) -> int:
    """Remove Keras 1's argument `mode` from `kwargs`, and return its value: 0 (default), 1 or 2.

    Raises
    ------
    ArgumentError
        The mode is not 0, 1 or 2.
    """
    if "mode" not in kwargs:
        return 0
    mode = kwargs.pop("mode")
    if mode not in (0, 1, 2):
        raise ArgumentError(
            "BatchNormalization: expected mode 0 (each feature, as without mode), 1 (each sample) "
            f"or 2 (each feature, by the batch in test too), got {mode!r}."
        )
    warn(
        "BatchNormalization: 'mode' is Keras 1's word; today there is only mode 0"
        + (". Leave it out." if mode == 0 else ". LayerNormalization normalises each sample."),
        SpellingWarning,
    )
    return int(mode)


# --- each sample by itself ------------------------------------------------------------------------
# These layers compute the same in training and in test, unlike `BatchNormalization`. They are in
# Keras 3 and tf.keras, but not in Keras 2.2.


class _Normalizing(Layer):
    """Base class of layers that normalise along axes and whose weights have these axes' sizes."""

    axis: Any

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _axes(self, ndim: int) -> tuple[int, ...]:
        axis = self.axis if isinstance(self.axis, int) else tuple(self.axis)
        return normalize_axes(axis, ndim, f"{self.label}: axis")

    def _known_sizes(self, input_shape: Shape) -> tuple[int, ...]:
        """Return the sizes of the axes in `axis`.

        Raises
        ------
        ShapeError
            The size of one of these axes is not known.
        """
        sizes: list[int] = []
        for axis in self._axes(len(input_shape)):
            size = input_shape[axis]
            if size is None:
                raise ShapeError(
                    f"{self.label}: expected a known size of axis {axis}, since a weight has that "
                    f"size, got an input of shape {input_shape}. Give the Input that "
                    f"size.",
                    subject=self,
                )
            sizes.append(size)
        return tuple(sizes)

    def _along_axes(self, weight: Tensor, ndim: int) -> Tensor:
        """Return a weight with axes of size 1 added, to broadcast with inputs of `ndim` axes."""
        axes = self._axes(ndim)
        for axis in range(axes[0] + 1, ndim):
            if axis not in axes:
                weight = K.expand_dims(weight, axis - axes[0])
        return weight

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class _ScaledAndShifted(_Normalizing):
    """Base class of layers that normalise, then multiply by `gamma` and add `beta`."""

    def __init__(
        self,
        *,
        center: bool,
        scale: bool,
        beta_initializer: Identifier,
        gamma_initializer: Identifier,
        beta_regularizer: Identifier,
        gamma_regularizer: Identifier,
        beta_constraint: Identifier,
        gamma_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)

    def build(self, input_shape: Shape) -> None:
        """Make gamma and beta, whose shape consists of the sizes of the axes in `axis`."""
        sizes = self._known_sizes(input_shape)
        self.gamma = make_weight(self, "gamma", sizes) if self.scale else None
        self.beta = make_weight(self, "beta", sizes) if self.center else None
        axes = self._axes(len(input_shape))
        self.input_spec = InputSpec(ndim=len(input_shape), axes=dict(zip(axes, sizes, strict=True)))
        self.built = True

    def _scaled_and_shifted(self, x: Tensor) -> Tensor:
        if self.gamma is not None:
            x = x * self._along_axes(self.gamma, K.ndim(x))
        if self.beta is not None:
            x = x + self._along_axes(self.beta, K.ndim(x))
        return x


class LayerNormalization(_ScaledAndShifted):
    """Gives the features of each sample mean 0 and variance 1.

    Parameters
    ----------
    axis : int or list of int
        Axes over which mean and variance are taken; -1 means the features of each time step.
    epsilon : float
        Added to the variance, to keep the division finite.
    center, scale : bool
        Whether `beta` is added, and whether `gamma` is a factor.
    beta_initializer, gamma_initializer : str, callable or object
        Initial offset and scale.
    beta_regularizer, gamma_regularizer : str, callable or object, optional
        Penalties on `beta` and `gamma`.
    beta_constraint, gamma_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, where mean and variance of
    each sample are taken over `axis`. The shape of gamma and beta consists of the sizes of these
    axes.

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
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "axis", "epsilon"))
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
        Number of groups of channels; -1 makes each channel its own group.
    axis : int
        Axis of the channels.
    epsilon, center, scale, beta_initializer, gamma_initializer
        As for `LayerNormalization`.
    beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint
        As for `LayerNormalization`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The number of channels is not a multiple of `groups`.

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
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "groups", "axis", "epsilon"))
        self.groups = -1 if groups == -1 else positive_int(groups, f"{self.label}: groups")
        self.axis = int(axis)
        self.epsilon = epsilon

    def build(self, input_shape: Shape) -> None:
        """Make gamma and beta, one number for each channel."""
        (channels,) = self._known_sizes(input_shape)
        if self.groups == -1:
            self.groups = channels
        if normalize_axis(self.axis, len(input_shape)) == 0:
            raise ArgumentError(f"{self.label}: axis {self.axis} is the batch axis.", subject=self)
        if channels % self.groups:
            raise ShapeError(
                f"{self.label}: {channels} channels on axis {self.axis} of {input_shape} cannot be "
                f"divided into {self.groups} groups. Set groups to a divisor "
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


class RMSNormalization(_Normalizing):
    """Divides the features of each sample by the root of their mean square.

    Parameters
    ----------
    axis : int or list of int
        Axes over which the mean is taken.
    epsilon : float
        Added to the mean square, to keep the division finite.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = scale * inputs / sqrt(mean inputs^2 + epsilon), where the weight `scale` has the
    sizes of the axes in `axis` as its shape. It is layer normalisation without the mean.

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
        self.supports_masking = not self._ends_masks  # in Keras 3 the output has no mask
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon

    def build(self, input_shape: Shape) -> None:
        """Make the weight `scale`."""
        self.scale = make_weight(self, "scale", self._known_sizes(input_shape))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return scale * inputs / (root of their mean square)."""
        axes = list(self._axes(K.ndim(inputs)))
        mean_square = K.mean(K.square(inputs), axis=axes, keepdims=True)
        scaled = inputs / K.sqrt(mean_square + self.epsilon)
        return scaled * self._along_axes(self.scale, K.ndim(inputs))


class UnitNormalization(_Normalizing):
    """Scales each sample to Euclidean norm 1 along an axis.

    Parameters
    ----------
    axis : int or list of int
        Axes over which the norm is taken.
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
        """Return the inputs divided by their Euclidean norm."""
        return K.l2_normalize(inputs, axis=list(self._axes(K.ndim(inputs))))


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """Return `x` with mean 0 and variance 1 over the axes."""
    distance = x - K.mean(x, axis=list(axes), keepdims=True)
    variance = K.mean(K.square(distance), axis=list(axes), keepdims=True)
    return distance / K.sqrt(variance + epsilon)


# --- fixed numbers, without training --------------------------------------------------------------
# `Rescaling` is given its scale, such as 1/255 for images. `Normalization` computes it from data.


class Rescaling(Layer):
    """Multiplies the inputs by a fixed factor, then adds a fixed offset.

    Parameters
    ----------
    scale : float or list of float
        The factor; a list has one for each feature of the last axis.
    offset : float or list of float
        Number or list of numbers to add; a list has one for each feature of the last axis.
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
        """Return the input's shape, broadcast with the shapes of scale and offset."""
        return broadcast_shapes(input_shape, np.shape(self.scale), np.shape(self.offset))


class Normalization(Layer):
    """Gives each feature mean 0 and variance 1, using statistics that `adapt` computes from data.

    Parameters
    ----------
    axis : int, list of int or None
        Axes whose entries have their own mean and variance. With None, there is one mean and one
        variance for all inputs.
    mean, variance : float or array_like, optional
        Used instead of `adapt`; give both or neither. The shape of an array consists of the
        sizes of the axes in `axis`.
    invert : bool
        Whether to undo the normalisation instead.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        Only one of mean and variance is given.
    ShapeError
        The shape of `mean` or `variance` does not match the sizes of the axes in `axis`.

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
        self._given = {"mean": mean, "variance": variance}
        self._is_given = mean is not None
        self.invert = bool(invert)
        self.supports_masking = True

    @property
    def mean(self) -> Any:
        """The mean to subtract; None before `build`, unless it was given to the constructor."""
        return self._shown("mean")

    @property
    def variance(self) -> Any:
        """The variance of the data; None before `build`, unless it was given to the constructor."""
        return self._shown("variance")

    def _shown(self, word: str) -> Any:
        if self._is_given or not self.built:
            return self._given[word]
        value = getattr(self, f"adapted_{word}").get_value()
        return value.reshape([n if a in self._kept else 1 for a, n in enumerate(self._sizes)])

    def build(self, input_shape: Shape) -> None:
        """Make the weights `mean`, `variance` and `count`, unless mean and variance were given."""
        axes = () if self.axis is None else self.axis
        self._kept = () if axes == () else normalize_axes(axes, len(input_shape), self.label)
        if None in [input_shape[a] for a in self._kept]:
            raise ShapeError(
                f"{self.label}: expected known sizes of axes {self._kept}, got an input of shape "
                f"{input_shape}. Give the Input these sizes.",
                subject=self,
            )
        self._sizes = input_shape
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
        """Check that a given mean or variance matches the sizes of the axes in `axis`.

        Raises
        ------
        ShapeError
            The shape of the mean or the variance does not match the sizes of these axes.
        """
        for word, value in self._given.items():
            shape = np.shape(value)
            padded = (1,) * (len(sizes) - len(shape)) + shape
            if len(padded) > len(sizes) or any(
                n not in (1, size) for n, size in zip(padded, sizes, strict=True)
            ):
                raise ShapeError(
                    f"{self.label}: expected {word} with shape {sizes}, one number for each entry "
                    f"of axis {self.axis}, got {shape}.",
                    subject=self,
                )

    def adapt(self, data: Any) -> None:
        """Set mean and variance to those of an array of samples."""
        if self._is_given:
            raise ArgumentError(f"{self.label}: cannot adapt, since mean and variance were given.")
        data = np.asarray(data)
        if not self.built:
            self(data[:1])
        others = tuple(a for a in range(data.ndim) if a not in self._kept)
        count = np.prod([data.shape[a] for a in others], dtype=int)
        self.set_weights([data.mean(others), data.var(others), count])

    def call(self, inputs: Tensor) -> Tensor:
        """Return the normalised inputs; with `invert`, undo the normalisation."""
        inputs = K.cast(inputs, self.dtype)
        mean, variance = self._numbers(K.ndim(inputs))
        spread = K.maximum(K.sqrt(variance), K.epsilon())
        return inputs * spread + mean if self.invert else (inputs - mean) / spread

    def _numbers(self, ndim: int) -> tuple[Tensor, Tensor]:
        """Return mean and variance with axes of size 1 inserted, so that they have `ndim` axes."""
        mean: Any
        variance: Any
        if self._is_given:
            axes = np.ones((1,) * len(self._kept))  # a single number has no axes yet
            mean, variance = (K.constant(x * axes, self.dtype) for x in self._given.values())
        else:
            mean, variance = self.adapted_mean, self.adapted_variance
        for axis in range(ndim):
            if axis not in self._kept:
                mean, variance = K.expand_dims(mean, axis), K.expand_dims(variance, axis)
        return mean, variance

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments. They do not include statistics from `adapt`."""
        return {**super().get_config(), **{k: plain(v) for k, v in self._given.items()}}

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape

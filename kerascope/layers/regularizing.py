"""Layers against overfitting: Dropout and its spatial forms, ActivityRegularization.

Dropout is the reason why a model has two phases: it acts in training and is the identity in test.
In Keras these layers stand in `layers/core.py`, from where they can be imported here too.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope import regularizers
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.layers.arguments import share


class Dropout(Layer):
    """Sets a random share of the inputs to 0 in training, and scales up the others.

    Parameters
    ----------
    rate : float
        Share that is dropped, from 0 to below 1.
    noise_shape : tuple of int or None, optional
        Shape of the random choices: a 1 drops along the whole axis at once, None stands for the
        input's size. `(None, 1, None)` drops a feature in all time steps together.
    seed : int, optional
        Makes the choices repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `rate` lies outside [0, 1).

    Notes
    -----
    In training output = inputs * keep / (1 - rate), where keep is 1 with probability 1 - rate, so
    that the mean stays; in test output = inputs.

    References
    ----------
    1. Srivastava et al.: Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4))
    >>> Dropout(0.5)(x).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    >>> sorted(set(Dropout(0.5, seed=1)(np.ones((9, 9)), training=True).ravel().tolist()))
    [0.0, 2.0]
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate = share(rate, f"{self.label}: rate")
        self.noise_shape = None if noise_shape is None else tuple(noise_shape)
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...] | None:
        """Return the shape of the random choices; None is that of the inputs."""
        return self.noise_shape

    def call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Return the inputs, in training with the dropped ones at 0."""
        if self.rate == 0:
            return inputs

        def dropped_inputs() -> Tensor:
            return K.dropout(inputs, self.rate, self._get_noise_shape(inputs), seed=self.seed)

        return K.in_train_phase(dropped_inputs, inputs, training=training)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class SpatialDropout1D(Dropout):
    """Dropout of whole features, in all time steps together.

    Parameters
    ----------
    rate : float
        Share of the features that is dropped, from 0 to below 1.
    seed : int, optional
        Makes the choices repeatable.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, time, features). Neighbouring steps are alike, so dropping single
    numbers would hide little.

    References
    ----------
    1. Tompson et al.: Efficient Object Localization Using Convolutional Networks, 2014.
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...]:
        return (None, 1, None)


class _ChannelDropout(Dropout):
    """Dropout of whole channels: what SpatialDropout2D and 3D have in common."""

    spatial_axes: int

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.data_format = K.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial_axes + 2)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...]:
        together = (1,) * self.spatial_axes
        if self.data_format == "channels_first":
            return (None, None, *together)
        return (None, *together, None)


class SpatialDropout2D(_ChannelDropout):
    """Dropout of whole channels of images.

    Parameters
    ----------
    rate : float
        Share of the channels that is dropped, from 0 to below 1.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    seed : int, optional
        Makes the choices repeatable.
    **kwargs
        As for `Layer`.
    """

    spatial_axes = 2


class SpatialDropout3D(_ChannelDropout):
    """Dropout of whole channels of volumes; as `SpatialDropout2D`, with one axis more."""

    spatial_axes = 3


class ActivityRegularization(Layer):
    """Returns its inputs and adds a penalty on them to the loss.

    Parameters
    ----------
    l1 : float
        Factor of the sum of absolute values.
    l2 : float
        Factor of the sum of squares.
    **kwargs
        As for `Layer`.

    Notes
    -----
    penalty = l1 * sum |x_i| + l2 * sum x_i^2
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1 = float(l1)
        self.l2 = float(l2)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape

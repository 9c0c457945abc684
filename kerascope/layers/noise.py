"""Layers that add noise in training, so that a model does not memorise single examples.

In test they return their inputs. The best-known layer of this kind is `Dropout` in `core.py`.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.activations import SELU_ALPHA, SELU_SCALE
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.layers.arguments import Training, fraction, number

__all__ = ["AlphaDropout", "GaussianDropout", "GaussianNoise"]


class _Noise(Layer):
    """Base class of the noise layers, which add noise in training only."""

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.supports_masking = True

    def _add_noise(self, inputs: Tensor) -> Tensor:
        """Return the inputs with noise."""
        raise NotImplementedError(f"{type(self).__name__} must define _add_noise(inputs).")

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        """Return the inputs, with noise in training."""
        return K.in_train_phase(lambda: self._add_noise(inputs), inputs, training=training)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class GaussianNoise(_Noise):
    """Adds normally distributed noise in training.

    Parameters
    ----------
    stddev : float
        Standard deviation of the noise; its mean is 0.
    seed : int, optional
        Makes the noise repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `stddev` is below 0.

    Examples
    --------
    >>> import numpy as np
    >>> layer, x = GaussianNoise(0.1, seed=1), np.zeros((2, 3))
    >>> layer(x).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> bool((layer(x, training=True) != 0).all())
    True
    """

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.stddev = number(stddev, f"{self.label}: stddev", least=0)

    def _add_noise(self, inputs: Tensor) -> Tensor:
        noise = K.random_normal(
            K.shape(inputs), 0.0, self.stddev, dtype=K.dtype(inputs), seed=self.seed
        )
        return inputs + noise


class GaussianDropout(_Noise):
    """Multiplies its inputs by normally distributed numbers with mean 1 in training.

    Parameters
    ----------
    rate : float
        As for `Dropout`, from 0 to below 1: the factors have the same variance as those of a
        Dropout with this rate.
    seed : int, optional
        Makes the factors repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `rate` is outside [0, 1).

    Notes
    -----
    The factors have mean 1 and standard deviation sqrt(rate / (1 - rate)).

    References
    ----------
    1. Srivastava et al.: Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.

    Examples
    --------
    With rate 0.5, the factors have mean 1 and standard deviation 1:

    >>> import numpy as np
    >>> layer, x = GaussianDropout(0.5, seed=1), np.full((100, 100), 3.0)
    >>> y = layer(x, training=True)
    >>> round(float(y.mean()), 1), round(float(y.std()), 1)
    (3.0, 3.0)
    >>> bool((layer(x) == x).all())
    True
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.rate = fraction(rate, f"{self.label}: rate")

    def _add_noise(self, inputs: Tensor) -> Tensor:
        stddev = (self.rate / (1 - self.rate)) ** 0.5
        factors = K.random_normal(
            K.shape(inputs), 1.0, stddev, dtype=K.dtype(inputs), seed=self.seed
        )
        return inputs * factors


class AlphaDropout(_Noise):
    """Dropout for networks of `selu` units, which keeps the mean and variance of the inputs.

    Parameters
    ----------
    rate : float
        Fraction that is dropped, from 0 to below 1.
    noise_shape : tuple of int or None, optional
        Shape of the random choices. A size of 1 means one choice for the whole axis, None means the
        size of the input.
    seed : int, optional
        Makes the random choices repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `rate` is outside [0, 1).

    Notes
    -----
    A dropped input does not become 0, but l = -scale * alpha, the limit of `selu` for very negative
    inputs. With q = 1 - rate, and keep 0 for a dropped input and 1 otherwise::

        output = a * (inputs * keep + l * (1 - keep)) + b
        a = (q + l^2 q (1 - q))^(-1/2),  b = -a l (1 - q)

    If the inputs have mean 0 and variance 1, so has the output.

    References
    ----------
    1. Klambauer et al.: Self-Normalizing Neural Networks, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(1000, 100))
    >>> y = AlphaDropout(0.3, seed=1)(x, training=True)
    >>> abs(round(float(y.mean()), 1)), round(float(y.std()), 1)
    (0.0, 1.0)
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(seed, **kwargs)
        self.rate = fraction(rate, f"{self.label}: rate")
        self.noise_shape = None if noise_shape is None else tuple(noise_shape)

    def _add_noise(self, inputs: Tensor) -> Tensor:
        kept = 1 - self.rate
        lowest = -SELU_SCALE * SELU_ALPHA
        a = (kept + lowest**2 * kept * self.rate) ** -0.5
        b = -a * lowest * self.rate
        # Dropout of ones gives the random choices for any noise_shape: 0 or 1 / kept.
        ones = K.ones_like(inputs)
        keep = K.dropout(ones, self.rate, self.noise_shape, seed=self.seed) * kept
        return (inputs * keep + lowest * (1 - keep)) * a + b

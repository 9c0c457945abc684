"""What `ImageDataGenerator` measures on images, and how it standardizes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.callers import warn
from kerascope.errors import DataError
from kerascope.preprocessing.image_iterators import warn_of_channels
from kerascope.settings import config


class ImageStatistics:
    """The part of `ImageDataGenerator` that measures and standardizes.

    Attributes
    ----------
    mean, std : ndarray or None
        Of each channel, over all images; `fit` sets them.
    principal_components : ndarray or None
        The matrix that makes pixels uncorrelated; `fit` sets it.
    """

    featurewise_center: bool
    featurewise_std_normalization: bool
    samplewise_center: bool
    samplewise_std_normalization: bool
    zca_whitening: bool
    zca_epsilon: float
    rescale: float | None
    preprocessing_function: Any
    data_format: str
    dtype: np.dtype

    def _forget_statistics(self) -> None:
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None

    @property
    def channel_axis(self) -> int:
        """The axis of the channels in a batch."""
        return 1 if self.data_format == "channels_first" else 3

    @property
    def row_axis(self) -> int:
        """The axis of the rows in a batch."""
        return 2 if self.data_format == "channels_first" else 1

    @property
    def col_axis(self) -> int:
        """The axis of the columns in a batch."""
        return self.row_axis + 1

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """Return an image changed at random."""
        raise NotImplementedError

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Measure images: mean, deviation, and what ZCA needs, as far as they are asked for.

        Parameters
        ----------
        x : array_like, 4 axes
            The images.
        augment : bool
            Measure images that were changed at random.
        rounds : int
            With `augment`, how often each image is taken.
        seed : int, optional
            Makes the changes repeatable.

        Raises
        ------
        DataError
            `x` has not 4 axes, or holds no image.
        """
        images = np.array(x, dtype=self.dtype)
        if images.ndim != 4:
            raise DataError(
                f"ImageDataGenerator: fit: x has shape {images.shape}; expected 4 axes: samples, "
                "rows, columns and channels."
            )
        if not len(images):
            raise DataError("ImageDataGenerator: fit: x is empty; expected at least one image.")
        warn_of_channels(images.shape, self.data_format, "ImageDataGenerator: fit")
        if augment:
            images = self._changed(images, rounds, seed)
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = images.mean(axis=axes, keepdims=True)[0]
            images = images - self.mean
        if self.featurewise_std_normalization:
            self.std = images.std(axis=axes, keepdims=True)[0]
            images = images / (self.std + config.epsilon)
        if self.zca_whitening:
            self.principal_components = _whitening(images, self.zca_epsilon)

    def _changed(self, images: np.ndarray, rounds: int, seed: int | None) -> np.ndarray:
        rng: Any = np.random if seed is None else np.random.RandomState(seed)
        return np.array(
            [
                self.random_transform(image, int(rng.randint(2**31 - 1)))
                for _ in range(rounds)
                for image in images
            ],
            dtype=self.dtype,
        )

    def standardize(self, x: Any) -> np.ndarray:
        """Return an image, or a batch, with the changes of value that were asked for.

        In this order: the preprocessing function, `rescale`, the image's own mean and deviation,
        those of all images, ZCA. `x` stays as it is.

        Warns
        -----
        KerascopeWarning
            `fit` did not measure yet what is needed; that step is left out.
        """
        image = x if self.preprocessing_function is None else self.preprocessing_function(x)
        if self.rescale:
            image = image * self.rescale
        if self.samplewise_center:
            image = image - np.mean(image, keepdims=True)
        if self.samplewise_std_normalization:
            image = image / (np.std(image, keepdims=True) + 1e-6)
        if self.featurewise_center and self._is_measured("mean", "featurewise_center"):
            image = image - self.mean
        if self.featurewise_std_normalization and self._is_measured(
            "std", "featurewise_std_normalization"
        ):
            image = image / (self.std + config.epsilon)
        if self.zca_whitening and self._is_measured("principal_components", "zca_whitening"):
            flat = image.reshape(-1, self.principal_components.shape[0])
            image = (flat @ self.principal_components).reshape(image.shape)
        return np.asarray(image)

    def _is_measured(self, attribute: str, wish: str) -> bool:
        if getattr(self, attribute) is not None:
            return True
        warn(
            f"ImageDataGenerator: {wish} is asked for, but nothing was measured; it is left out. "
            "Call fit(images) first."
        )
        return False


def _whitening(images: np.ndarray, epsilon: float) -> np.ndarray:
    r"""Return the symmetric matrix that makes the pixels of images uncorrelated.

    With the covariance :math:`\Sigma = U S U^T` it is
    :math:`U (S + \epsilon)^{-1/2} U^T`.
    """
    flat = images.reshape(len(images), -1)
    covariance = flat.T @ flat / len(flat)
    vectors, values, _ = np.linalg.svd(covariance)
    return (vectors / np.sqrt(values + epsilon)) @ vectors.T

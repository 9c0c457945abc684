"""CIFAR's files. Each batch file is a pickled dictionary of pixels and labels.

`cifar10` and `cifar100` use this module. Keras 1 has `load_batch` in `keras.datasets.cifar`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerascope.datasets.local_files import read_pickled_dict, unreadable
from kerascope.settings import config

__all__ = ["load_batch"]


def load_batch(fpath: str | Path, label_key: str = "labels") -> tuple[np.ndarray, list[int]]:
    """Return the images and labels of one batch file of CIFAR-10 or CIFAR-100.

    Parameters
    ----------
    fpath : path
    label_key : {"labels", "fine_labels", "coarse_labels"}
        The labels to return; CIFAR-100 has fine and coarse ones.

    Returns
    -------
    images : ndarray, shape (n, 3, 32, 32), uint8
        Red, green and blue planes, in the order of the file.
    labels : list of int

    Raises
    ------
    DataError
        If the file is missing or cannot be read.
    """
    images, labels = batch_in("cifar.load_batch", Path(fpath), label_key)
    return images, labels.ravel().tolist()


def batch_in(where: str, path: Path, label_key: str = "labels") -> tuple[np.ndarray, np.ndarray]:
    """Return the images and labels of a CIFAR batch file. The labels are uint8, of shape (n, 1)."""
    batch = read_pickled_dict(where, path)
    try:
        images = np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32)
        labels = np.asarray(batch[label_key.encode()], np.uint8).reshape(len(images), 1)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        expected = f"images of 3x32x32 bytes under 'data' and as many '{label_key}'"
        raise unreadable(where, path, expected, f"{type(error).__name__}: {error}") from error
    return images, labels


def in_image_data_format(images: np.ndarray) -> np.ndarray:
    """Move the colours to the last axis if `config.image_data_format` is "channels_last"."""
    if config.image_data_format == "channels_last":
        return images.transpose(0, 2, 3, 1)
    return images

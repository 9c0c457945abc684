"""CIFAR-10: 60,000 colour pictures of 32x32 pixels in 10 classes.

Keras calls it `keras.datasets.cifar10`. Source: A. Krizhevsky, *Learning Multiple Layers of
Features from Tiny Images*, 2009, https://www.cs.toronto.edu/~kriz/cifar.html
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerascope.datasets.cifar import batch_in, in_image_data_format
from kerascope.utils.data_utils import get_file

ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
SHA256 = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
FOLDER = "cifar-10-batches-py"

Samples = tuple[np.ndarray, np.ndarray]


def load_data() -> tuple[Samples, Samples]:
    """Return CIFAR-10, fetching and unpacking it the first time.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (50000 or 10000, 32, 32, 3), uint8, or (..., 3, 32, 32) when
        `config.image_data_format` is "channels_first". `y`: shape (50000 or 10000, 1), uint8, 0 to
        9: airplane, automobile, bird, cat, deer, dog, frog, horse, ship, truck.

    Raises
    ------
    UnavailableError
        If the archive is not in `~/.keras/datasets` and cannot be downloaded.
    DataError
        If a file cannot be read.
    """
    where = "cifar10.load_data"
    folder = Path(get_file(FOLDER, ORIGIN, untar=True, file_hash=SHA256))
    parts = [batch_in(where, folder / f"data_batch_{number}") for number in range(1, 6)]
    x_train = np.concatenate([images for images, _ in parts])
    y_train = np.concatenate([labels for _, labels in parts])
    x_test, y_test = batch_in(where, folder / "test_batch")
    return (in_image_data_format(x_train), y_train), (in_image_data_format(x_test), y_test)

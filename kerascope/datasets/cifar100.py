"""CIFAR-100: 60,000 colour pictures of 32x32 pixels in 100 fine or 20 coarse classes.

Keras calls it `keras.datasets.cifar100`. Source: A. Krizhevsky, *Learning Multiple Layers of
Features from Tiny Images*, 2009, https://www.cs.toronto.edu/~kriz/cifar.html
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerascope.datasets.cifar import batch_in, in_image_data_format
from kerascope.errors import ArgumentError
from kerascope.utils.data_utils import get_file

ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
SHA256 = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"
FOLDER = "cifar-100-python"
LABEL_MODES = ("fine", "coarse")

Samples = tuple[np.ndarray, np.ndarray]


def load_data(label_mode: str = "fine") -> tuple[Samples, Samples]:
    """Return CIFAR-100, fetching and unpacking it the first time.

    Parameters
    ----------
    label_mode : {"fine", "coarse"}
        100 classes, or the 20 groups that they form.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (50000 or 10000, 32, 32, 3), uint8, or (..., 3, 32, 32) when
        `config.image_data_format` is "channels_first". `y`: shape (50000 or 10000, 1), uint8.

    Raises
    ------
    ArgumentError
        If `label_mode` is invalid.
    UnavailableError
        If the archive is not in `~/.keras/datasets` and cannot be downloaded.
    DataError
        If a file cannot be read.
    """
    where = "cifar100.load_data"
    if label_mode not in LABEL_MODES:
        raise ArgumentError(f"{where}: expected label_mode 'fine' or 'coarse', got {label_mode!r}.")
    folder = Path(get_file(FOLDER, ORIGIN, untar=True, file_hash=SHA256))
    x_train, y_train = batch_in(where, folder / "train", f"{label_mode}_labels")
    x_test, y_test = batch_in(where, folder / "test", f"{label_mode}_labels")
    return (in_image_data_format(x_train), y_train), (in_image_data_format(x_test), y_test)

"""MNIST: 70,000 handwritten digits, 28x28 grey pixels. Keras calls it `keras.datasets.mnist`.

Source: Y. LeCun, C. Cortes, C. Burges, *The MNIST database of handwritten digits*, CC BY-SA 3.0.
"""

from __future__ import annotations

import numpy as np

from kerascope.datasets.local_files import find_file, read_npz

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"

Samples = tuple[np.ndarray, np.ndarray]


def load_data(path: str = "mnist.npz") -> tuple[Samples, Samples]:
    """Return MNIST, fetching it the first time.

    Parameters
    ----------
    path : str
        An absolute path to the file, or its name in the cache (`~/.keras/datasets`).

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (60000 or 10000, 28, 28), uint8. `y`: shape (60000 or 10000,), uint8.

    Raises
    ------
    UnavailableError
        If the file is missing and cannot be downloaded.
    DataError
        If the file cannot be read.
    """
    where = "mnist.load_data"
    file = find_file(where, path, ORIGIN, SHA256)
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = read_npz(where, file, names)
    return (x_train, y_train), (x_test, y_test)

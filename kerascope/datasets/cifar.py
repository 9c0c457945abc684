"""`keras.datasets.cifar` of Keras 1: one file of CIFAR's batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerascope.datasets import local_files


def load_batch(fpath: str | Path, label_key: str = "labels") -> tuple[np.ndarray, list[int]]:
    """Return the images and labels of one batch file of CIFAR-10 or CIFAR-100.

    Parameters
    ----------
    fpath : path
    label_key : {"labels", "fine_labels", "coarse_labels"}
        Which labels.

    Returns
    -------
    images : ndarray, shape (n, 3, 32, 32), uint8
    labels : list of int

    Raises
    ------
    DataError
        The file is missing or cannot be read.
    """
    images, labels = local_files.load_batch("cifar.load_batch", Path(fpath), label_key)
    return images, labels.ravel().tolist()

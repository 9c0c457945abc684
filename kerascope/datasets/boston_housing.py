"""Boston housing: 506 districts, 13 numbers each, and the median price of a house in 1,000 dollars.

Keras calls it `keras.datasets.boston_housing`. Source: D. Harrison and D. Rubinfeld, *Hedonic
prices and the demand for clean air*, 1978. One of the 13 numbers was built from the share of Black
residents; use the set to compare with old results, not to judge real districts.
"""

from __future__ import annotations

import numpy as np

from kerascope.datasets.local_files import checked_test_split, find_file, read_npz, shuffled

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/boston_housing.npz"
SHA256 = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"

Samples = tuple[np.ndarray, np.ndarray]


def load_data(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[Samples, Samples]:
    """Return the Boston housing data, fetching it the first time.

    Parameters
    ----------
    path : str
        An absolute path to the file, or its name in the cache (`~/.keras/datasets`).
    test_split : float, from 0 to less than 1
        Share of the samples that becomes the test set.
    seed : int
        Seed of the shuffle before the split.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (samples, 13), float64. `y`: shape (samples,), float64.

    Raises
    ------
    ArgumentError
        If `test_split` is out of its range.
    UnavailableError
        If the file is missing and cannot be downloaded.
    DataError
        If the file cannot be read.
    """
    where = "boston_housing.load_data"
    checked_test_split(where, test_split)
    file = find_file(where, path, ORIGIN, SHA256)
    x, y = shuffled(np.random.RandomState(seed), *read_npz(where, file, ("x", "y")))
    train_count = int(len(x) * (1 - test_split))
    return (x[:train_count], y[:train_count]), (x[train_count:], y[train_count:])

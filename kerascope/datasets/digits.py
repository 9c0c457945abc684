"""The 1,797 handwritten digits of UCI. They are in the package, so no download is needed.

The demo and the lessons train on this data set. Keras does not have it. `load_data` has the same
form as `mnist.load_data` of Keras.

Source: E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits* (its test set), UCI
Machine Learning Repository, 1998, DOI 10.24432/C50P49, licence CC BY 4.0. The donors cut 32x32
bitmaps into blocks of 4x4 and counted the black pixels of each block, hence 8x8 pixels from 0 to
16. See `digits.LICENSE.txt` in this folder.
"""

from __future__ import annotations

import gzip
from importlib.resources import files

import numpy as np

from kerascope.errors import ArgumentError

SAMPLE_COUNT = 1797
SIDE = 8

Samples = tuple[np.ndarray, np.ndarray]  # images and their labels


def load_data(test_size: int = 360, seed: int = 0) -> tuple[Samples, Samples]:
    """Return the digits, shuffled and split into a training and a test set.

    Parameters
    ----------
    test_size : int
        The number of samples in the test set; the default is a fifth of 1,797.
    seed : int
        Seed of the shuffle. The same seed gives the same split with every version of NumPy.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (samples, 8, 8), uint8 from 0 to 16. `y`: shape (samples,), uint8 from 0 to 9.

    Raises
    ------
    ArgumentError
        If one of the two sets would be empty.

    Notes
    -----
    The file is ordered by writer. Shuffling puts samples of every writer into both sets.

    References
    ----------
    .. [1] E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
       Repository, 1998. https://doi.org/10.24432/C50P49

    Examples
    --------
    >>> (x_train, y_train), (x_test, y_test) = load_data()
    >>> x_train.shape, y_train.shape, x_test.shape, y_test.shape
    ((1437, 8, 8), (1437,), (360, 8, 8), (360,))
    >>> x_train.dtype, int(x_train.max())
    (dtype('uint8'), 16)
    """
    if not 0 < test_size < SAMPLE_COUNT:
        raise ArgumentError(
            f"digits.load_data: expected a test_size from 1 to {SAMPLE_COUNT - 1}, "
            f"got {test_size!r}."
        )
    images, labels = read_file()
    # RandomState's stream is frozen: the split stays the same when NumPy changes its generators.
    order = np.random.RandomState(seed).permutation(SAMPLE_COUNT)
    train, test = order[test_size:], order[:test_size]
    return (images[train], labels[train]), (images[test], labels[test])


def read_file() -> Samples:
    """Return all samples in the order of the file.

    Returns
    -------
    images : ndarray, shape (1797, 8, 8), uint8
    labels : ndarray, shape (1797,), uint8

    Examples
    --------
    >>> read_file()[1][:10]
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], dtype=uint8)
    """
    packed = files("kerascope.datasets").joinpath("digits.csv.gz").read_bytes()
    lines = gzip.decompress(packed).decode("utf-8").splitlines()
    table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, SIDE, SIDE), table[:, -1]

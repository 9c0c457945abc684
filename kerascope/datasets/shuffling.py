"""Shuffle samples as Keras's loaders do, so that its seeds give its splits."""

from __future__ import annotations

import numpy as np

from kerascope.errors import ArgumentError


def shuffled(
    random_state: np.random.RandomState, x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and labels in one random order.

    Parameters
    ----------
    random_state : numpy.random.RandomState
        Its frozen stream gives the order that Keras gets from NumPy's global generator, which
        stays untouched here.
    x, y : ndarray, shape (samples, ...)
        Samples and labels.

    Returns
    -------
    x, y : ndarray, shape (samples, ...)
        Both in the same new order.

    Examples
    --------
    >>> shuffled(np.random.RandomState(113), np.arange(4), np.array(list("abcd")))
    (array([3, 2, 0, 1]), array(['d', 'c', 'a', 'b'], dtype='<U1'))
    """
    order = random_state.permutation(len(x))
    return x[order], y[order]


def checked_test_split(where: str, test_split: float) -> float:
    """Return `test_split` if it is from 0 to less than 1, else raise ArgumentError."""
    if 0 <= test_split < 1:
        return test_split
    raise ArgumentError(
        f"{where}: test_split is no share; expected 0 to less than 1, got {test_split!r}."
    )

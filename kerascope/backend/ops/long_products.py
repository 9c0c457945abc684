"""Products of matrices of many rows and few columns, made piece by piece.

A recurrent layer multiplies the inputs of all samples and times by one small matrix, and the
gradient of this matrix is a product of two such long ones. The BLAS lays the numbers of a product
out anew before it multiplies them, unless there are few: below a million multiplications OpenBLAS
takes them as they lie. For a long matrix the pieces together take two thirds of the time of the
whole.

Both ways of running a function come here, so both give the same bits.
"""

from __future__ import annotations

import numpy as np

MOST_MULTIPLICATIONS = 900_000  # of a piece; with some distance to that million
FEWEST_ROWS = 128  # of a piece; shorter ones do not pay


def rows_of_a_piece(rows: int, columns: int, others: int) -> int:
    """Return how many rows make a piece; all, if the matrix is not long enough to be cut.

    Parameters
    ----------
    rows, columns : int
        Of the long matrix.
    others : int
        How many columns the other matrix has.

    Examples
    --------
    >>> rows_of_a_piece(1600, 16, 128), rows_of_a_piece(100, 16, 128)
    (400, 100)
    """
    each = columns * others
    pieces = -(-rows * each // MOST_MULTIPLICATIONS)
    length = -(-rows // max(pieces, 1))
    return length if length >= FEWEST_ROWS else max(rows, 1)


def long_product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Compute `x` · `y` into `out`, for a long `x`.

    Examples
    --------
    >>> x, y, out = np.ones((2000, 8)), np.ones((8, 100)), np.empty((2000, 100))
    >>> long_product(x, y, out)
    >>> bool((out == 8).all())
    True
    """
    n = rows_of_a_piece(len(x), x.shape[1], y.shape[1])
    if n >= len(x):
        np.dot(x, y, out)
        return
    for start in range(0, len(x), n):
        np.dot(x[start : start + n], y, out[start : start + n])


def product_of_rows(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Compute `x.T` · `y` into `out`, for long `x` and `y`: the sum over all rows.

    Examples
    --------
    >>> x, y, out = np.ones((2000, 8)), np.ones((2000, 100)), np.empty((8, 100))
    >>> product_of_rows(x, y, out)
    >>> bool((out == 2000).all())
    True
    """
    n = rows_of_a_piece(len(x), x.shape[1], y.shape[1])
    np.dot(x[:n].T, y[:n], out)
    addend = np.empty_like(out) if n < len(x) else out
    for start in range(n, len(x), n):
        np.dot(x[start : start + n].T, y[start : start + n], addend)
        np.add(out, addend, out)

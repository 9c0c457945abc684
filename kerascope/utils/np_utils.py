"""Functions to prepare training: one-hot labels, unit vectors, a seed for random numbers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kerascope.errors import ArgumentError
from kerascope.missing_names import PRIVATE_NAMES, answer_missing_names


def to_categorical(
    y: ArrayLike, num_classes: int | None = None, dtype: DTypeLike = "float32"
) -> np.ndarray:
    """Return one-hot rows for class numbers.

    Parameters
    ----------
    y : array_like, shape (...) or (..., 1), whole numbers from 0 to num_classes - 1
        The class of each sample.
    num_classes : int, optional
        Length of each row. Default: one more than the largest class in `y`.
    dtype : dtype
        Type of the result.

    Returns
    -------
    ndarray, shape (..., num_classes)
        1 at the index of the class, 0 elsewhere.

    Raises
    ------
    ArgumentError
        If a class is not an integer, is negative, or does not fit into `num_classes`.

    Examples
    --------
    >>> to_categorical([0, 2, 1])
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    classes = _whole_numbers(y)
    if num_classes is None:
        num_classes = _count_classes(classes)
    outside = classes[(classes < 0) | (classes >= num_classes)]
    if outside.size:
        raise ArgumentError(
            f"to_categorical: expected classes from 0 to {num_classes - 1}, got "
            f"{int(outside.flat[0])}. Give a larger num_classes, or count the classes from 0."
        )
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    one_hot = np.zeros((*classes.shape, num_classes), dtype=dtype)
    np.put_along_axis(one_hot, classes[..., np.newaxis], 1, axis=-1)
    return one_hot


def _whole_numbers(y: ArrayLike) -> np.ndarray:
    values = np.asarray(y)
    if values.dtype.kind in "OSUV" or not np.all(np.equal(np.mod(values, 1), 0)):
        raise ArgumentError(
            f"to_categorical: expected classes 0, 1, 2, ..., got dtype {values.dtype}. "
            f"Convert the classes to integers first."
        )
    return values.astype(np.int64)


def _count_classes(classes: np.ndarray) -> int:
    if classes.size:
        return int(classes.max()) + 1
    raise ArgumentError(
        "to_categorical: expected at least one label without num_classes, got none. "
        "Give num_classes."
    )


def normalize(x: ArrayLike, axis: int = -1, order: Any = 2) -> np.ndarray:
    r"""Scale vectors to length one.

    Parameters
    ----------
    x : array_like, float
        The vectors.
    axis : int
        The axis of each vector.
    order : {1, 2, inf, ...}
        The norm, as in `numpy.linalg.norm`; 2 is the Euclidean length.

    Returns
    -------
    ndarray, the shape of `x`
        The scaled vectors; a vector of zeros does not change.

    Notes
    -----
    :math:`x_i / \lVert x \rVert`

    Examples
    --------
    >>> normalize([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    vectors = np.asarray(x)
    lengths = np.linalg.norm(vectors, ord=order, axis=axis, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


def set_random_seed(seed: int) -> None:
    """Seed the random generators of Python and NumPy. kerascope draws from them, too.

    Parameters
    ----------
    seed : int
        0 or more.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> set_random_seed(7)
    >>> first = K.eval(K.random_normal((3,)))
    >>> set_random_seed(7)
    >>> bool((first == K.eval(K.random_normal((3,)))).all())
    True
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the generator that scripts and the backend use)


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Return samples, targets and weights as one tuple, as a generator of batches yields them.

    A single value that is not a list or tuple is returned unchanged. Unlike Keras, weights without
    targets are kept.

    Examples
    --------
    >>> pack_x_y_sample_weight(1), pack_x_y_sample_weight([1]), pack_x_y_sample_weight(1, 2)
    (1, ([1],), (1, 2))
    """
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (list, tuple)) else x  # a bare list would be read as a pair


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return samples, targets and weights from an item of a generator; None for missing ones.

    Raises
    ------
    ArgumentError
        `data` is a tuple or list without items, or with more than three.

    Examples
    --------
    >>> unpack_x_y_sample_weight((1, 2)), unpack_x_y_sample_weight({"a": 1})
    ((1, 2, None), ({'a': 1}, None, None))
    """
    if not isinstance(data, (list, tuple)):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ArgumentError(
            "unpack_x_y_sample_weight: expected x, (x,), (x, y) or (x, y, sample_weight), "
            f"got {len(data)} items."
        )
    x, y, sample_weight = [*data, None, None][:3]
    return x, y, sample_weight


_OF_KERAS_1 = """binary_logloss multiclass_logloss accuracy probas_to_classes
    categorical_probas_to_classes convert_kernel conv_output_length conv_input_length"""

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), PRIVATE_NAMES))

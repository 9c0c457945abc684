"""One seed for all random numbers: `keras.utils.set_random_seed`."""

from __future__ import annotations

import random

import numpy as np


def set_random_seed(seed: int) -> None:
    """Seed Python's and NumPy's random numbers, and with them all of kerascope.

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
    np.random.seed(seed)  # noqa: NPY002 (what scripts seed, and what the backend draws from)

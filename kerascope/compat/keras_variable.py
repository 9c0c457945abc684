"""`keras.Variable`: Keras 3's way to make a variable, and to write it at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope import initializers


class Variable(K.Variable):
    """A variable of the backend with Keras 3's constructor and methods.

    Parameters
    ----------
    initializer : array_like, str or Initializer
        First value; or what makes it from `shape`.
    shape : tuple of int, optional
        Needed for a name or an initializer.
    dtype : str, optional
        Default: `K.floatx()`.
    trainable : bool
    name : str, optional

    Examples
    --------
    >>> counter = Variable(0.0)
    >>> _ = counter.assign_add(2.0)
    >>> float(counter.numpy())
    2.0
    """

    __slots__ = ("trainable",)

    def __init__(
        self,
        initializer: Any,
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        trainable: bool = True,
        name: str | None = None,
    ) -> None:
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)(tuple(shape or ()))
        if isinstance(initializer, K.Tensor):
            initializer = K.eval(initializer)
        super().__init__(initializer, dtype, name)
        self.trainable = trainable

    @property
    def value(self) -> np.ndarray:
        """The numbers."""
        return self.get_value()

    def numpy(self) -> np.ndarray:
        """Return the numbers."""
        return self.get_value()

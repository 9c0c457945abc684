"""Functions of Keras 3 that compute something else here under the same name.

A file must go on computing what it computed, so they get names of their own.
"""

from __future__ import annotations

from kerascope import activations
from kerascope import backend as K
from kerascope.backend.graph import Tensor

__all__ = ["hard_sigmoid_of_keras_3"]


@activations._registry.register
def hard_sigmoid_of_keras_3(x: Tensor) -> Tensor:
    """Return `x / 6 + 0.5` cut off at 0 and 1.

    Keras 2's `hard_sigmoid`, and so ours, draws the middle line as `0.2 * x + 0.5`.

    Examples
    --------
    >>> K.eval(hard_sigmoid_of_keras_3(K.constant([-4.0, 0.0, 1.5, 4.0]))).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    return K.clip(x / 6.0 + 0.5, 0.0, 1.0)

"""The error function, which the exact `gelu` needs."""

from __future__ import annotations

import math

import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.ops.elementwise import exp, floating, square

__all__ = ["erf"]

_erf_of_number = np.frompyfunc(math.erf, 1, 1)  # NumPy has no erf; that of Python is exact


class Erf(Op):
    """The error function of each element."""

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.asarray(_erf_of_number(x)).astype(x.dtype)

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * (2 / math.sqrt(math.pi)) * exp(-square(inputs[0]))]


def erf(x):
    """Return the error function of each element.

    Notes
    -----
    erf(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. A normal number with mean 0
    and variance 1 lies below x with probability (1 + erf(x / sqrt(2))) / 2.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> float(K.eval(K.erf(K.constant(0.0))))
    0.0
    """
    return Erf()(floating(x))

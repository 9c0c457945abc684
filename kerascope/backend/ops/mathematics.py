"""Elementwise functions of `keras.ops` that the backend of Keras 2 did not have.

`layers/ops/numpy.py` imports this module.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor, parametric
from kerascope.backend.ops.broadcasting import Elementwise
from kerascope.backend.ops.comparison import Comparison, equal
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import SmoothOfTwo, cos, exp, square, square_root
from kerascope.backend.types import Gradients, Tensors
from kerascope.errors import GradientError

__all__: list[str] = []  # K exports none of these functions

# --- tests of numbers: true or false --------------------------------------------------------------


class IsFinite(Comparison):
    """Whether `x` is neither infinite nor NaN."""

    ufunc = np.isfinite


class IsInf(Comparison):
    """Whether `x` is infinite."""

    ufunc = np.isinf


class SignBit(Comparison):
    """Whether `x` is negative, -0.0 included."""

    ufunc = np.signbit


# --- step functions: no gradient, because their derivative is 0 -----------------------------------


class Floor(Elementwise):
    """`x` rounded down to an integer."""

    ufunc = np.floor


class Ceil(Elementwise):
    """`x` rounded up to an integer."""

    ufunc = np.ceil


class Trunc(Elementwise):
    """`x` truncated to an integer, towards 0."""

    ufunc = np.trunc


class Heaviside(Elementwise):
    """The step function: 0 where `x` is negative, 1 where it is positive, `y` where it is 0."""

    ufunc = np.heaviside


class NextAfter(Elementwise):
    """The next floating-point number after `x` in the direction of `y` (nextafter)."""

    ufunc = np.nextafter


# --- whole numbers, bit by bit --------------------------------------------------------------------


class BitwiseAnd(Elementwise):
    """The bits that are set in both inputs."""

    ufunc = np.bitwise_and


class BitwiseOr(Elementwise):
    """The bits that are set in at least one input."""

    ufunc = np.bitwise_or


class BitwiseXor(Elementwise):
    """The bits that are set in exactly one input."""

    ufunc = np.bitwise_xor


class BitwiseInvert(Elementwise):
    """`x` with every bit inverted."""

    ufunc = np.invert


class LeftShift(Elementwise):
    """`x` shifted left by `y` bits."""

    ufunc = np.left_shift


class RightShift(Elementwise):
    """`x` shifted right by `y` bits."""

    ufunc = np.right_shift


class GreatestDivisor(Elementwise):
    """The greatest common divisor of `x` and `y`."""

    ufunc = np.gcd


class LeastMultiple(Elementwise):
    """The least common multiple of `x` and `y`."""

    ufunc = np.lcm


@parametric
class ViewAs(Elementwise):
    """The bytes of `x` interpreted as elements of another dtype of the same size."""

    dtype: str

    def infer_dtype(self, x: Tensor) -> str:
        return self.dtype

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x).view(self.dtype).copy()


# --- smooth functions of one tensor ---------------------------------------------------------------


class Smooth(Elementwise):
    """Base class of differentiable functions of one tensor; a subclass defines `slope`."""

    def slope(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the derivative at `x`, where `y` is the result."""
        raise NotImplementedError

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [output_grads[0] * self.slope(inputs[0], outputs[0])]


class Arcsin(Smooth):
    """The arcsine of `x`, an angle in radians."""

    ufunc = np.arcsin

    def slope(self, x, y):
        return 1 / square_root(1 - square(x))


class Arccos(Smooth):
    """The arccosine of `x`, an angle in radians."""

    ufunc = np.arccos

    def slope(self, x, y):
        return -1 / square_root(1 - square(x))


class Arctan(Smooth):
    """The arctangent of `x`, an angle in radians."""

    ufunc = np.arctan

    def slope(self, x, y):
        return 1 / (1 + square(x))


class Arcsinh(Smooth):
    """The inverse hyperbolic sine (arcsinh) of `x`."""

    ufunc = np.arcsinh

    def slope(self, x, y):
        return 1 / square_root(1 + square(x))


class Arccosh(Smooth):
    """The inverse hyperbolic cosine (arccosh) of `x`."""

    ufunc = np.arccosh

    def slope(self, x, y):
        return 1 / square_root(square(x) - 1)


class Arctanh(Smooth):
    """The inverse hyperbolic tangent (arctanh) of `x`."""

    ufunc = np.arctanh

    def slope(self, x, y):
        return 1 / (1 - square(x))


class CubeRoot(Smooth):
    """The cube root of `x`."""

    ufunc = np.cbrt

    def slope(self, x, y):
        return 1 / (3 * square(y))


class Exp2(Smooth):
    """`2 ** x`."""

    ufunc = np.exp2

    def slope(self, x, y):
        return y * math.log(2)


class Sinc(Smooth):
    """`sin(pi x) / (pi x)`, and 1 at 0."""

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.asarray(xp.sinc(x)).astype(x.dtype)

    def slope(self, x, y):
        is_zero = equal(x, 0)
        divisor = Where()(is_zero, 1 + 0 * x, x)
        return Where()(is_zero, 0 * x, (cos(math.pi * divisor) - y) / divisor)


class BesselI0(Elementwise):
    """The modified Bessel function of the first kind of order 0."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.i0(x).reshape(np.shape(x)).astype(x.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        raise GradientError(
            "keras.ops.i0: its gradient, the Bessel function of order 1, is not implemented. "
            "Wrap it in ops.stop_gradient, or write your own Op."
        )


# NumPy has no error functions; those of Python are exact.
_erfc_of_number = np.frompyfunc(math.erfc, 1, 1)
_normal = NormalDist()


class Erfc(Smooth):
    """`1 - erf(x)`, precise even if erf(x) is nearly 1."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(_erfc_of_number(x)).astype(x.dtype)

    def slope(self, x, y):
        return (-2 / math.sqrt(math.pi)) * exp(-square(x))


def _erfinv_of_number(x: float) -> float:
    if not -1 < x < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    y = _normal.inv_cdf((x + 1) / 2) / math.sqrt(2) if abs(x) > 1e-3 else x * math.sqrt(math.pi) / 2
    return y - (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)  # a Newton step


class Erfinv(Smooth):
    """The inverse of the error function at `x`."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        of_array = np.frompyfunc(lambda one: _erfinv_of_number(float(one)), 1, 1)
        return np.asarray(of_array(x)).astype(x.dtype)

    def slope(self, x, y):
        return math.sqrt(math.pi) / 2 * exp(square(y))


# --- smooth functions of two tensors --------------------------------------------------------------


class Arctan2(SmoothOfTwo):
    """The angle of a point in radians. As in NumPy's `arctan2`, the first input is its height."""

    ufunc = np.arctan2

    def slopes(self, x, y, z):
        squares = square(x) + square(y)
        return y / squares, -x / squares


class Hypot(SmoothOfTwo):
    """`sqrt(x ** 2 + y ** 2)`, without overflow."""

    ufunc = np.hypot

    def slopes(self, x, y, z):
        return x / z, y / z


class Fmod(SmoothOfTwo):
    """The remainder of `x` divided by `y`, with the sign of `x`."""

    ufunc = np.fmod

    def slopes(self, x, y, z):
        return 1, -Trunc()(x / y)

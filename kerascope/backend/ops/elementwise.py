"""Arithmetic and common functions, element by element.

Operands of different shapes are broadcast as in NumPy. The gradient of a broadcast operand is
summed over the axes along which it was stretched (`unbroadcast`). Operands of different dtypes are
first converted to a common dtype by a `Cast`, which is visible in the graph.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.graph import ShapeOfFirst, as_tensor, parametric
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import Elementwise, cast, promoted, unbroadcast
from kerascope.backend.ops.comparison import greater_equal, less_equal, logical_and
from kerascope.backend.ops.templates import COPY, full
from kerascope.backend.types import Gradients, Kernel, Specs, Tensor, TensorLike, Tensors
from kerascope.settings import config

__all__ = [
    "abs",
    "clip",
    "cos",
    "erf",
    "exp",
    "identity",
    "log",
    "maximum",
    "minimum",
    "pow",
    "round",
    "sign",
    "sin",
    "sqrt",
    "square",
    "stop_gradient",
]


def floating(x: TensorLike) -> Tensor:
    """Convert a value to a tensor of floats: integers and booleans are cast to `config.floatx`."""
    x = as_tensor(x)
    return x if is_float(x.dtype) else cast(x, config.floatx)


def countable(x: TensorLike) -> Tensor:
    """Convert a value to a numeric tensor: booleans are cast to int32."""
    x = as_tensor(x)
    return cast(x, "int32") if x.dtype == "bool" else x


class Add(Elementwise):
    """`x + y`."""

    ufunc = np.add

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [unbroadcast(output_grads[0], x, y), unbroadcast(output_grads[0], y, x)]


def add(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x + y."""
    return Add()(*promoted(x, y))


class Subtract(Elementwise):
    """`x - y`."""

    ufunc = np.subtract

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [unbroadcast(output_grads[0], x, y), unbroadcast(-output_grads[0], y, x)]


def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x - y."""
    return Subtract()(*promoted(x, y))


class Multiply(Elementwise):
    """`x * y`."""

    ufunc = np.multiply

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [unbroadcast(output_grads[0] * y, x, y), unbroadcast(output_grads[0] * x, y, x)]


def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * y."""
    return Multiply()(*promoted(x, y))


class Divide(Elementwise):
    """`x / y`."""

    ufunc = np.divide

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        slope = output_grads[0] / y
        return [unbroadcast(slope, x, y), unbroadcast(-slope * outputs[0], y, x)]


def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y, in floats."""
    return Divide()(*(floating(operand) for operand in promoted(x, y)))


class Power(Elementwise):
    """`x ** y`."""

    ufunc = np.power

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        to_base = output_grads[0] * y * Power()(x, y - 1)
        to_exponent = output_grads[0] * outputs[0] * log(x)
        return [unbroadcast(to_base, x, y), unbroadcast(to_exponent, y, x)]


def pow(x: TensorLike, a: TensorLike) -> Tensor:
    """Return x ** a, element by element."""
    return Power()(*(countable(operand) for operand in promoted(x, a)))


class Maximum(Elementwise):
    """The maximum of `x` and `y`. If they are equal, the gradient goes to `x`."""

    ufunc = np.maximum

    def grad(self, inputs, outputs, output_grads):
        return _to_the_chosen(inputs, output_grads[0], greater_equal(*inputs))


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the maximum of two tensors, element by element."""
    return Maximum()(*promoted(x, y))


class Minimum(Elementwise):
    """The minimum of `x` and `y`. If they are equal, the gradient goes to `x`."""

    ufunc = np.minimum

    def grad(self, inputs, outputs, output_grads):
        return _to_the_chosen(inputs, output_grads[0], less_equal(*inputs))


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the minimum of two tensors, element by element."""
    return Minimum()(*promoted(x, y))


def _to_the_chosen(inputs, gradient, first_is_chosen):
    x, y = inputs
    chosen = cast(first_is_chosen, gradient.dtype)
    return [unbroadcast(gradient * chosen, x, y), unbroadcast(gradient * (1 - chosen), y, x)]


class Negative(Elementwise):
    """`-x`."""

    ufunc = np.negative

    def grad(self, inputs, outputs, output_grads):
        return [-output_grads[0]]


def negative(x: TensorLike) -> Tensor:
    """Return -x."""
    return Negative()(countable(x))


class Abs(Elementwise):
    """`|x|`; its slope at 0 is taken as 0."""

    ufunc = np.abs

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * sign(inputs[0])]


def abs(x: TensorLike) -> Tensor:
    """Return `|x|`, element by element."""
    return Abs()(x)


class Sign(Elementwise):
    """The sign of `x`: -1, 0 or 1."""

    ufunc = np.sign


def sign(x: TensorLike) -> Tensor:
    """Return the sign of each element: -1, 0 or 1. It has no gradient."""
    return Sign()(countable(x))


class Round(Elementwise):
    """`x` rounded to the nearest integer; halves are rounded to the even one."""

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        # `np.round` of integers returns `x` itself in NumPy 2.0; an op must return a new array.
        return xp.round(x) if is_float(x.dtype.name) else x.copy()

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return "np.rint({0}, {out})" if is_float(outputs[0].dtype.name) else COPY


def round(x: TensorLike) -> Tensor:
    """Return each element rounded to an integer; halves go to the even one: 0.5 becomes 0."""
    return Round()(countable(x))


class Square(Elementwise):
    """`x * x`."""

    ufunc = np.square

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * (2 * inputs[0])]


def square(x: TensorLike) -> Tensor:
    """Return x * x, element by element."""
    return Square()(countable(x))


class Sqrt(Elementwise):
    """The square root of `x`."""

    ufunc = np.sqrt

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / (2 * outputs[0])]


def sqrt(x: TensorLike) -> Tensor:
    """Return the square root of each element, 0 for negative ones, as in Keras 1 and 2."""
    return square_root(maximum(floating(x), 0.0))


def square_root(x: TensorLike) -> Tensor:
    """Return the square root of each element, NaN for negative ones, as in Keras 3."""
    return Sqrt()(floating(x))


class Exp(Elementwise):
    """`e ** x`."""

    ufunc = np.exp

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * outputs[0]]


def exp(x: TensorLike) -> Tensor:
    """Return e ** x, element by element."""
    return Exp()(floating(x))


class Log(Elementwise):
    """The natural logarithm of `x`: -inf at 0, NaN for negative numbers."""

    ufunc = np.log

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / inputs[0]]


def log(x: TensorLike) -> Tensor:
    """Return the natural logarithm of each element: -inf at 0, NaN for negative numbers."""
    return Log()(floating(x))


class Log1p(Elementwise):
    """`log(1 + x)`, exact also for `x` near 0, where `1 + x` is rounded."""

    ufunc = np.log1p

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / (1 + inputs[0])]


def log1p(x: TensorLike) -> Tensor:
    """Return log(1 + x) of each element, exact also for x near 0."""
    return Log1p()(floating(x))


class Sin(Elementwise):
    """The sine of `x`, an angle in radians."""

    ufunc = np.sin

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * cos(inputs[0])]


def sin(x: TensorLike) -> Tensor:
    """Return the sine of each element, an angle in radians."""
    return Sin()(floating(x))


class Cos(Elementwise):
    """The cosine of `x`, an angle in radians."""

    ufunc = np.cos

    def grad(self, inputs, outputs, output_grads):
        return [-output_grads[0] * sin(inputs[0])]


def cos(x: TensorLike) -> Tensor:
    """Return the cosine of each element, an angle in radians."""
    return Cos()(floating(x))


@parametric
class Clip(Elementwise):
    """`x` limited to [low, high]. Outside of this range the gradient is 0."""

    low: float
    high: float

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.minimum(xp.maximum(x, self.low), self.high)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        raised = f"np.maximum({{0}}, {full(self.low)}, out={{out}})"
        return f"np.minimum({raised}, {full(self.high)}, out={{out}})"

    def grad(self, inputs, outputs, output_grads):
        inside = logical_and(greater_equal(inputs[0], self.low), less_equal(inputs[0], self.high))
        return [output_grads[0] * cast(inside, output_grads[0].dtype)]


def clip(x, min_value, max_value):
    """Return each element limited to [min_value, max_value].

    Parameters
    ----------
    x : Tensor
        Integers with integer bounds stay integers.
    min_value, max_value : float, Tensor or None
        None means no bound. A `max_value` below `min_value` counts as `min_value`.
    """
    x = as_tensor(x)
    bounds = [bound for bound in (min_value, max_value) if bound is not None]
    if not is_float(x.dtype) or any(isinstance(b, Tensor) or np.ndim(b) for b in bounds):
        return _between(countable(x), min_value, max_value)
    low = -np.inf if min_value is None else float(min_value)
    high = np.inf if max_value is None else float(max_value)
    return Clip(low, low if high < low else high)(x)


def _between(x, low, high):
    """Return `x` limited to bounds that are tensors or ints; `low` if `low` is above `high`."""
    x = x if high is None else minimum(x, high)
    return x if low is None else maximum(x, low)


class Identity(Elementwise):
    """A new tensor with the value of `x`."""

    is_view = True

    def perform(self, x: np.ndarray) -> np.ndarray:
        return x

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0]]


def identity(x: TensorLike, name: str | None = None) -> Tensor:
    """Return a new tensor with the value of `x`."""
    return Identity()(x, name=name)


OPERATORS["identity"] = identity


class StopGradient(Elementwise):
    """The value of `x`, through which no gradient flows."""

    is_view = True

    def perform(self, x: np.ndarray) -> np.ndarray:
        return x


def stop_gradient(variables):
    """Return a tensor with the same value, through which no gradient flows; for a list, a list."""
    if isinstance(variables, (list, tuple)):
        return [StopGradient()(x) for x in variables]
    return StopGradient()(variables)


# --- floor division and remainder -----------------------------------------------------------------


class SmoothOfTwo(Elementwise):
    """Base class of differentiable functions of two tensors; a subclass defines `slopes`."""

    def slopes(self, x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor | int, Tensor | int]:
        """Return the derivatives with respect to `x` and `y`, where `z` is the result."""
        raise NotImplementedError

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, y = inputs
        to_x, to_y = (output_grads[0] * slope for slope in self.slopes(x, y, outputs[0]))
        return [unbroadcast(to_x, x, y), unbroadcast(to_y, y, x)]


class FloorDivide(Elementwise):
    """`x / y` rounded down."""

    ufunc = np.floor_divide


class Mod(SmoothOfTwo):
    """The remainder of `x` divided by `y`, with the sign of `y`."""

    ufunc = np.remainder

    def slopes(self, x, y, z):
        return 1, -FloorDivide()(x, y)


def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y rounded down, element by element."""
    return FloorDivide()(*(countable(one) for one in promoted(x, y)))


def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the remainder of x divided by y, with the sign of y."""
    return Mod()(*(countable(one) for one in promoted(x, y)))


OPERATORS.update(
    add=add, sub=subtract, mul=multiply, truediv=divide, pow=pow, neg=negative, abs=abs
)
OPERATORS.update(floordiv=floor_divide, mod=mod)


# --- the error function, which the exact `gelu` needs ---------------------------------------------


_erf_of_number = np.frompyfunc(math.erf, 1, 1)  # NumPy has no erf; Python's is exact


class Erf(ShapeOfFirst):
    """The error function of each element."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(_erf_of_number(x)).astype(x.dtype)

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * (2 / math.sqrt(math.pi)) * exp(-square(inputs[0]))]


def erf(x: TensorLike) -> Tensor:
    """Return the error function of each element.

    Notes
    -----
    erf(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. A normally distributed number
    with mean 0 and variance 1 is below x with probability (1 + erf(x / sqrt(2))) / 2.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> float(K.eval(K.erf(K.constant(0.0))))
    0.0
    """
    return Erf()(floating(x))

"""Activation functions: what turns a layer's sums into its outputs."""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import parametric
from kerascope.backend.ops.broadcasting import Elementwise
from kerascope.backend.ops.comparison import greater
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import abs, clip, exp, floating, square
from kerascope.backend.ops.reduction import room_for_reduced, sum
from kerascope.backend.ops.templates import full, number
from kerascope.backend.shapes import normalize_axis

__all__ = [
    "elu",
    "hard_sigmoid",
    "log_softmax",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]


class Activation(Elementwise):
    """A function of one tensor of floats that keeps its shape."""


@parametric
class Relu(Activation):
    """`max_value` from there on, `x` from `threshold` on, below it `alpha * (x - threshold)`."""

    alpha: float = 0.0
    max_value: float | None = None
    threshold: float = 0.0

    def perform(self, x):
        if self.threshold == 0 and self.alpha == 0:
            y = np.maximum(x, 0)
        elif self.threshold == 0 and 0 < self.alpha <= 1:
            y = np.maximum(x, self.alpha * x)
        else:
            y = np.where(x >= self.threshold, x, self.alpha * (x - self.threshold))
        return y if self.max_value is None else np.minimum(y, self.max_value)

    def kernel(self, inputs, outputs):
        if self.threshold != 0 or not 0 <= self.alpha <= 1:
            return self._kernel_of_pieces(*inputs)
        slope = number(self.alpha)
        below = full(0) if self.alpha == 0 else f"np.multiply({{0}}, {slope}, {{out}})"
        text = f"np.maximum({{0}}, {below}, out={{out}})"
        if self.max_value is None:
            return text
        return f"np.minimum({text}, {full(self.max_value)}, out={{out}})"

    def _kernel_of_pieces(self, x):
        alpha, threshold, top = self.alpha, self.threshold, self.max_value
        is_above = np.empty(x.shape, bool)

        def compute(out, x):
            np.subtract(x, threshold, out)
            np.multiply(out, alpha, out)
            np.greater_equal(x, threshold, is_above)
            np.copyto(out, x, where=is_above)
            if top is not None:
                np.minimum(out, top, out=out)

        return compute

    def grad(self, inputs, outputs, output_grads):
        slope = ReluSlope(self.alpha, self.max_value, self.threshold)(inputs[0])
        return [output_grads[0] * slope]


@parametric
class ReluSlope(Activation):
    """The slope of `Relu`: 0, 1 or `alpha`; at a corner that on its left, at `max_value` 0."""

    alpha: float
    max_value: float | None
    threshold: float
    is_exact = True

    def perform(self, x):
        slope = (x > self.threshold).astype(x.dtype)
        if self.alpha != 0:
            slope = np.where(x > self.threshold, slope, x.dtype.type(self.alpha))
        return slope if self.max_value is None else slope * (x < self.max_value)

    def kernel(self, inputs, outputs):
        alpha, top = self.alpha, self.max_value
        is_above = f"np.greater({{0}}, {number(self.threshold)}, {{out}})"  # as a number, 0 or 1
        if top is None and 0 <= alpha <= 1:
            if alpha == 0:
                return is_above
            return f"np.maximum({is_above}, {number(alpha)}, out={{out}})"
        threshold = np.array(self.threshold, inputs[0].dtype)
        holds = np.empty(inputs[0].shape, bool)

        def compute(out, x):
            out.fill(alpha)
            np.greater(x, threshold, holds)
            np.copyto(out, 1, where=holds)
            if top is not None:
                np.less(x, top, holds)
                np.multiply(out, holds, out)

        return compute

    def is_that_of_the_output(self, dtype):
        """Tell whether the slope at x is also that at `Relu`'s output, bit for bit.

        Where x is above 0 the output is above 0 too, and where it is below `max_value` so is the
        output. A NaN is neither, and stays a NaN.
        """
        is_bounded = self.max_value is None or dtype.type(self.max_value) > 0
        return self.threshold == 0 and self.alpha >= 0 and is_bounded


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """Return the rectified linear unit of each element.

    Parameters
    ----------
    x : Tensor
    alpha : float
        Slope below the threshold.
    max_value : float, optional
        Greatest result.
    threshold : float
        From here on the result is x itself.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.relu(K.constant([-2.0, 0.5, 9.0]), max_value=6)).tolist()
    [0.0, 0.5, 6.0]
    """
    top = None if max_value is None else float(max_value)
    return Relu(float(alpha), top, float(threshold))(floating(x))


@parametric
class Elu(Activation):
    """`x` above 0, `alpha * (exp(x) - 1)` below."""

    alpha: float

    def perform(self, x):
        return np.maximum(x, 0) + self.alpha * np.expm1(np.minimum(x, 0))

    def kernel(self, inputs, outputs):
        alpha, above = self.alpha, np.empty(*inputs[0])

        def compute(out, x):
            np.minimum(x, 0, out=out)
            np.expm1(out, out)
            np.multiply(out, alpha, out)
            np.maximum(x, 0, out=above)
            np.add(above, out, out)

        return compute

    def grad(self, inputs, outputs, output_grads):
        g = output_grads[0]
        return [Where()(greater(inputs[0], 0), g, g * (outputs[0] + self.alpha))]


def elu(x, alpha=1.0):
    """Return the exponential linear unit: x above 0, alpha * (exp(x) - 1) below."""
    return Elu(float(alpha))(floating(x))


class Softplus(Activation):
    """`log(1 + exp(x))`, without overflow."""

    def perform(self, x):
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    def kernel(self, inputs, outputs):
        above = np.empty(*inputs[0])

        def compute(out, x):
            np.abs(x, out)
            np.negative(out, out)
            np.exp(out, out)
            np.log1p(out, out)
            np.maximum(x, 0, out=above)
            np.add(above, out, out)

        return compute

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * sigmoid(inputs[0])]


def softplus(x):
    """Return log(1 + exp(x)), element by element."""
    return Softplus()(floating(x))


class Softsign(Activation):
    """`x / (1 + |x|)`."""

    def perform(self, x):
        return x / (1 + np.abs(x))

    def kernel(self, inputs, outputs):
        return "np.divide({0}, np.add({number:1}, np.abs({0}, {out}), {out}), {out})"

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / square(1 + abs(inputs[0]))]


def softsign(x):
    """Return x / (1 + |x|), element by element."""
    return Softsign()(floating(x))


class Sigmoid(Activation):
    """`1 / (1 + exp(-x))`, precise at both ends.

    Far below 0, where the power overflows to infinity, it is 0: the type holds no normal number so
    small. Only float16 is so narrow that a power overflows earlier; its powers are float32.
    """

    def perform(self, x):
        with np.errstate(over="ignore"):
            powers = np.exp(-x, dtype=np.result_type(x.dtype, np.float32))
        return np.reciprocal(1 + powers).astype(x.dtype, copy=False)

    def kernel(self, inputs, outputs):
        if inputs[0].dtype != np.float16:
            power = "np.exp(np.negative({0}, {out}), {out})"
            return f"np.reciprocal(np.add({number(1)}, {power}, {{out}}), {{out}})"
        wide = np.empty(inputs[0].shape, np.float32)

        def compute(out, x):
            np.negative(x, wide)
            np.exp(wide, wide)
            np.add(1, wide, wide)
            np.reciprocal(wide, wide)
            np.copyto(out, wide, "same_kind")

        return compute

    def grad(self, inputs, outputs, output_grads):
        y = outputs[0]
        return [output_grads[0] * y * (1 - y)]


def sigmoid(x):
    """Return 1 / (1 + exp(-x)), element by element."""
    return Sigmoid()(floating(x))


def hard_sigmoid(x):
    """Return 0.2 * x + 0.5 brought into [0, 1]: a sigmoid of three straight pieces."""
    return clip(floating(x) * 0.2 + 0.5, 0.0, 1.0)


class Tanh(Activation):
    """The hyperbolic tangent."""

    ufunc = np.tanh

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * (1 - square(outputs[0]))]


def tanh(x):
    """Return the hyperbolic tangent of each element."""
    return Tanh()(floating(x))


@parametric
class Softmax(Activation):
    """`exp(x)` divided by its sum along `axis`."""

    axis: int

    def perform(self, x):
        powers = np.exp(x - x.max(axis=self.axis, keepdims=True))
        return powers / powers.sum(axis=self.axis, keepdims=True)

    def kernel(self, inputs, outputs):
        axis, row = self.axis, room_for_reduced(inputs[0], (self.axis,))

        def compute(out, x):
            np.maximum.reduce(x, axis, None, row, keepdims=True)
            np.subtract(x, row, out)
            np.exp(out, out)
            np.add.reduce(out, axis, None, row, keepdims=True)
            np.divide(out, row, out)

        return compute

    def grad(self, inputs, outputs, output_grads):
        y, g = outputs[0], output_grads[0]
        # This form is exactly 0 for a single unit, whose softmax is the constant 1.
        return [y * (g - sum(y * g, self.axis, keepdims=True))]


def softmax(x, axis=-1):
    """Return positive numbers in the proportion of exp(x), whose sum along `axis` is 1.

    Notes
    -----
    y_i = exp(x_i) / sum_k exp(x_k);  dL/dx_i = y_i (dL/dy_i - sum_k y_k dL/dy_k).
    """
    x = floating(x)
    return Softmax(normalize_axis(axis, x.ndim, "K.softmax"))(x)


@parametric
class LogSoftmax(Activation):
    """The logarithm of the softmax along `axis`, without the detour through tiny numbers."""

    axis: int

    def perform(self, x):
        below = x - x.max(axis=self.axis, keepdims=True)
        return below - np.log(np.exp(below).sum(axis=self.axis, keepdims=True))

    def kernel(self, inputs, outputs):
        axis = self.axis
        row, powers = room_for_reduced(inputs[0], (axis,)), np.empty(*inputs[0])

        def compute(out, x):
            np.maximum.reduce(x, axis, None, row, keepdims=True)
            np.subtract(x, row, out)
            np.exp(out, powers)
            np.add.reduce(powers, axis, None, row, keepdims=True)
            np.log(row, row)
            np.subtract(out, row, out)

        return compute

    def grad(self, inputs, outputs, output_grads):
        g = output_grads[0]
        return [g - exp(outputs[0]) * sum(g, self.axis, keepdims=True)]


def log_softmax(x, axis=-1):
    """Return log(softmax(x, axis)), also where the softmax itself would round to 0."""
    x = floating(x)
    return LogSoftmax(normalize_axis(axis, x.ndim, "K.log_softmax"))(x)

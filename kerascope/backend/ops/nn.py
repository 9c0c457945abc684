"""Activations, normalisation and crossentropies: the ops of layers and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Op, ShapeOfLast, as_tensor, parametric
from kerascope.backend.ops.broadcasting import Elementwise, cast
from kerascope.backend.ops.comparison import greater
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import abs, clip, exp, floating, log, maximum, sqrt, square
from kerascope.backend.ops.indexing import are_places, shape
from kerascope.backend.ops.reduction import empty_reduced, greatest, mean, sum
from kerascope.backend.ops.shaping import ExpandDims, Squeeze, reshape
from kerascope.backend.ops.templates import full, number
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.backend.shapes import merge_shapes, normalize_axes, normalize_axis, reduced_shape
from kerascope.backend.types import (
    Axes,
    Gradients,
    Kernel,
    Shape,
    Spec,
    Specs,
    Tensor,
    TensorLike,
    Tensors,
)
from kerascope.errors import DataError, ShapeError
from kerascope.settings import config

__all__ = [
    "batch_normalization",
    "bias_add",
    "binary_crossentropy",
    "categorical_crossentropy",
    "elu",
    "hard_sigmoid",
    "l2_normalize",
    "log_softmax",
    "moving_average_update",
    "normalize_batch_in_training",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "tanh",
]


class Activation(Elementwise):
    """Base class of elementwise functions of one float tensor."""


@parametric
class Relu(Activation):
    """The rectified linear unit of Keras, with a slope `alpha` below `threshold`.

    Above `threshold` the result is `x`, limited to [0, `max_value`] if there is a `max_value`.
    Below, it is `alpha * (x - threshold)`.
    """

    alpha: float = 0.0
    max_value: float | None = None
    threshold: float = 0.0

    @property
    def _is_greatest(self) -> bool:
        """Whether the result is simply `min(max(x, alpha * x), max_value)`."""
        bears_ceiling = self.max_value is None or self.max_value > 0 or self.alpha == 0
        return self.threshold == 0 and 0 <= self.alpha <= 1 and bears_ceiling

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        top = self.max_value
        if self._is_greatest:
            y = xp.maximum(x, 0 if self.alpha == 0 else self.alpha * x)
            return y if top is None else xp.minimum(y, top)
        y = xp.where(x <= self.threshold, x.dtype.type(0), x)
        if top is not None:
            y = xp.minimum(xp.maximum(y, 0), top)
        if self.alpha != 0:
            y = y - xp.maximum(self.threshold - x, 0) * self.alpha
        return y

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        if not self._is_greatest:
            return self._kernel_of_pieces(*inputs)
        slope = number(self.alpha)
        below = full(0) if self.alpha == 0 else f"np.multiply({{0}}, {slope}, {{out}})"
        text = f"np.maximum({{0}}, {below}, out={{out}})"
        if self.max_value is None:
            return text
        return f"np.minimum({text}, {full(self.max_value)}, out={{out}})"

    def _kernel_of_pieces(self, x: Spec) -> Kernel:
        alpha, threshold, top = self.alpha, self.threshold, self.max_value
        is_below, below = np.empty(x.shape, bool), np.empty(*x)

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.less_equal(x, threshold, is_below)
            np.subtract(threshold, x, below)
            np.copyto(out, x)
            np.copyto(out, 0, where=is_below)
            if top is not None:
                np.maximum(out, 0, out=out)
                np.minimum(out, top, out=out)
            if alpha != 0:
                np.maximum(below, 0, out=below)
                np.multiply(below, alpha, below)
                np.subtract(out, below, out)

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        slope = ReluSlope(self.alpha, self.max_value, self.threshold)(inputs[0])
        return [output_grads[0] * slope]


@parametric
class ReluSlope(Activation):
    """The slope of `Relu`: 0, 1 or `alpha`. At the threshold it is `alpha`, at `max_value` 0."""

    alpha: float
    max_value: float | None
    threshold: float
    is_exact = True

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        is_above = x > self.threshold
        slope = xp.where(is_above, x.dtype.type(1), x.dtype.type(self.alpha))
        if self.max_value is None:
            return slope
        is_inside = (x < self.max_value) & (x > 0)
        return xp.where(is_above & ~is_inside, x.dtype.type(0), slope)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        alpha, top = self.alpha, self.max_value
        is_above = f"np.greater({{0}}, {number(self.threshold)}, {{out}})"  # 0.0 or 1.0
        if top is None and 0 <= alpha <= 1:
            if alpha == 0:
                return is_above
            return f"np.maximum({is_above}, {number(alpha)}, out={{out}})"
        threshold = np.array(self.threshold, inputs[0].dtype)
        holds, inside, less = (np.empty(inputs[0].shape, bool) for _ in range(3))

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            out.fill(alpha)
            np.greater(x, threshold, holds)
            np.copyto(out, 1, where=holds)
            if top is not None:
                np.greater(x, 0, inside)
                np.logical_and(inside, np.less(x, top, less), inside)
                np.greater(holds, inside, holds)  # above the threshold, but the result is limited
                np.copyto(out, 0, where=holds)

        return compute

    def is_same_at_output(self, dtype: np.dtype) -> bool:
        """Return whether the output of `Relu` gives the same slope as its input.

        Then the output is above 0 if and only if the input is above 0, and below `max_value` if and
        only if the input is below `max_value`. NaN stays NaN.
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
        Above the threshold the result is x (at least 0 if there is a `max_value`). At the threshold
        it is 0.

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
    """`x` if `x` is above 0, otherwise `alpha * (exp(x) - 1)`."""

    alpha: float

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.maximum(x, 0) + self.alpha * xp.expm1(xp.minimum(x, 0))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        alpha, above = self.alpha, np.empty(*inputs[0])

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.minimum(x, 0, out=out)
            np.expm1(out, out)
            np.multiply(out, alpha, out)
            np.maximum(x, 0, out=above)
            np.add(above, out, out)

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        g = output_grads[0]
        return [Where()(greater(inputs[0], 0), g, g * (outputs[0] + self.alpha))]


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return the exponential linear unit (ELU): x if x > 0, otherwise alpha * (exp(x) - 1)."""
    return Elu(float(alpha))(floating(x))


class Softplus(Activation):
    """`log(1 + exp(x))`, without overflow."""

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        above = np.empty(*inputs[0])

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.abs(x, out)
            np.negative(out, out)
            np.exp(out, out)
            np.log1p(out, out)
            np.maximum(x, 0, out=above)
            np.add(above, out, out)

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [output_grads[0] * sigmoid(inputs[0])]


def softplus(x: TensorLike) -> Tensor:
    """Return log(1 + exp(x)), element by element."""
    return Softplus()(floating(x))


class Softsign(Activation):
    """`x / (1 + |x|)`."""

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return x / (1 + xp.abs(x))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return "np.divide({0}, np.add({number:1}, np.abs({0}, {out}), {out}), {out})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [output_grads[0] / square(1 + abs(inputs[0]))]


def softsign(x: TensorLike) -> Tensor:
    """Return `x / (1 + |x|)`, element by element."""
    return Softsign()(floating(x))


class Sigmoid(Activation):
    """`1 / (1 + exp(-x))`, precise also far from 0.

    Far below 0, `exp(-x)` overflows to infinity and the result is 0. That is correct, because the
    dtype has no normal number that small. float16 would overflow too early, so `exp` is computed in
    float32.
    """

    def perform(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            powers = np.exp(-x, dtype=np.result_type(x.dtype, np.float32))
        return np.reciprocal(1 + powers).astype(x.dtype, copy=False)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        if inputs[0].dtype != np.float16:
            power = "np.exp(np.negative({0}, {out}), {out})"
            return f"np.reciprocal(np.add({number(1)}, {power}, {{out}}), {{out}})"
        wide = np.empty(inputs[0].shape, np.float32)

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.negative(x, wide)
            np.exp(wide, wide)
            np.add(1, wide, wide)
            np.reciprocal(wide, wide)
            np.copyto(out, wide, "same_kind")

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        y = outputs[0]
        return [output_grads[0] * y * (1 - y)]


def sigmoid(x: TensorLike) -> Tensor:
    """Return 1 / (1 + exp(-x)), element by element."""
    return Sigmoid()(floating(x))


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Return 0.2 * x + 0.5 limited to [0, 1]: a piecewise linear sigmoid."""
    return clip(floating(x) * 0.2 + 0.5, 0.0, 1.0)


class Tanh(Activation):
    """The hyperbolic tangent of `x`."""

    ufunc = np.tanh

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [output_grads[0] * (1 - square(outputs[0]))]


def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent of each element."""
    return Tanh()(floating(x))


@parametric
class Softmax(Activation):
    """`exp(x)` divided by its sum along `axis`."""

    axis: int

    def perform(self, x: np.ndarray) -> np.ndarray:
        powers = np.exp(x - greatest(x, self.axis))
        return powers / powers.sum(axis=self.axis, keepdims=True)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        axis, row = self.axis, empty_reduced(inputs[0], (self.axis,))

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.maximum.reduce(x, axis, None, row, keepdims=True, initial=-np.inf)
            np.subtract(x, row, out)
            np.exp(out, out)
            np.add.reduce(out, axis, None, row, keepdims=True)
            np.divide(out, row, out)

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        y, g = outputs[0], output_grads[0]
        # In this form the gradient is exactly 0 for a single unit, whose softmax is always 1.
        return [y * (g - sum(y * g, self.axis, keepdims=True))]


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the softmax: exp(x) divided by its sum along `axis`, so that the sum is 1.

    Notes
    -----
    y_i = exp(x_i) / sum_k exp(x_k);  dL/dx_i = y_i (dL/dy_i - sum_k y_k dL/dy_k).
    """
    x = floating(x)
    return Softmax(normalize_axis(axis, x.ndim, "K.softmax"))(x)


@parametric
class LogSoftmax(Activation):
    """The logarithm of the softmax along `axis`, computed without underflow."""

    axis: int

    def perform(self, x: np.ndarray) -> np.ndarray:
        below = x - greatest(x, self.axis)
        return below - np.log(np.exp(below).sum(axis=self.axis, keepdims=True))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        axis = self.axis
        row, powers = empty_reduced(inputs[0], (axis,)), np.empty(*inputs[0])

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.maximum.reduce(x, axis, None, row, keepdims=True, initial=-np.inf)
            np.subtract(x, row, out)
            np.exp(out, powers)
            np.add.reduce(powers, axis, None, row, keepdims=True)
            np.log(row, row)
            np.subtract(out, row, out)

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        g = output_grads[0]
        return [g - exp(outputs[0]) * sum(g, self.axis, keepdims=True)]


def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return log(softmax(x, axis)), precise also where the softmax would round to 0."""
    x = floating(x)
    return LogSoftmax(normalize_axis(axis, x.ndim, "K.log_softmax"))(x)


# --- shifting and scaling: biases, batch normalisation, running means -----------------------------


def l2_normalize(x: TensorLike, axis: Axes = None) -> Tensor:
    """Return `x` divided by its L2 norm along `axis`: the root of the sum of its squares."""
    x = floating(x)
    least = np.maximum(1e-12, np.finfo(x.dtype).tiny)
    return x / sqrt(maximum(sum(square(x), axis, keepdims=True), least))


def bias_add(x, bias, data_format=None):
    """Return `x` plus a bias for each channel.

    Parameters
    ----------
    x : Tensor, shape (batch, ..., channels) or (batch, channels, ...)
    bias : Tensor, shape (channels,) or (..., channels)
        One number for each channel, or for each place and channel.
    data_format : {"channels_last", "channels_first"}, optional
        Layout of `x`.

    Notes
    -----
    If `x` has the channels first, a bias for each place is reshaped to (channels, ...), not
    transposed, as in Keras 1 and 2, whose LocallyConnected2D stores it so.
    """
    data_format = normalize_data_format(data_format)
    x, bias = as_tensor(x), as_tensor(bias)
    if bias.ndim not in (1, x.ndim - 1):
        raise ShapeError(
            f"K.bias_add: expected a bias with 1 or {x.ndim - 1} axes for x of shape {x.shape}, "
            f"got {bias.shape}.",
            subject=bias,
        )
    if data_format == "channels_last" or x.ndim < 3:
        return x + bias
    if bias.ndim == 1:
        return x + ExpandDims(tuple(range(1, x.ndim - 1)))(bias)
    sizes = [n if n is not None else shape(bias)[axis] for axis, n in enumerate(bias.shape)]
    return x + reshape(bias, (sizes[-1], *sizes[:-1]))


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """Return `x` normalised by a given mean and variance, then scaled and shifted.

    Parameters
    ----------
    x : Tensor
    mean, var : Tensor
        One number for each feature, or any shape that broadcasts against `x`.
    beta, gamma : Tensor or None
        Offset and scale, applied to the normalised `x`. None means 0 and 1.
    axis : int
        Axis of the features.
    epsilon : float
        Added to the variance, so that the division is finite.

    Notes
    -----
    gamma (x - mean) / sqrt(var + epsilon) + beta
    """
    x = floating(x)
    axis = normalize_axis(axis, x.ndim, "K.batch_normalization")
    mean, var, beta, gamma = (_along(axis, x, v) for v in (mean, var, beta, gamma))
    scale = 1 / sqrt(var + epsilon) if gamma is None else gamma / sqrt(var + epsilon)
    y = (x - mean) * scale
    return y if beta is None else y + beta


def _along(axis, x, values):
    """Return a vector with a value for each feature, reshaped to broadcast along `axis` of `x`.

    None, or a tensor with several axes, is returned unchanged.
    """
    if values is None:
        return None
    values = as_tensor(values, like=x)
    if values.ndim != 1 or axis == x.ndim - 1:
        return values
    return ExpandDims(tuple(range(1, x.ndim - axis)))(values)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """Return `x` normalised by its own mean and variance, and also return the mean and variance.

    Parameters
    ----------
    x : Tensor
    gamma, beta : Tensor or None
        Scale and offset; their shape is that of `x` without `reduction_axes`.
    reduction_axes : list of int
        Axes over which mean and variance are computed.
    epsilon : float

    Returns
    -------
    tuple of Tensor
        Normalised x, mean, variance.
    """
    x = floating(x)
    axes = normalize_axes(reduction_axes, x.ndim, "K.normalize_batch_in_training")
    center = mean(x, axes, keepdims=True)
    distance = x - center
    spread = mean(square(distance), axes, keepdims=True)
    y = distance * (1 / sqrt(spread + epsilon))
    if gamma is not None:
        y = y * ExpandDims(axes)(gamma)
    if beta is not None:
        y = y + ExpandDims(axes)(beta)
    return y, Squeeze(axes)(center), Squeeze(axes)(spread)


def moving_average_update(variable, value, momentum):
    """Return the pair (variable, new value) that moves a running mean towards `value`.

    Notes
    -----
    new = momentum * old + (1 - momentum) * value
    """
    return variable, variable * momentum + value * (1.0 - momentum)


# --- crossentropies: how far predicted probabilities are from the targets -------------------------


def _probabilities(output):
    """Return probabilities limited to [margin, 1 - margin], so that their logs are finite.

    The margin is `K.epsilon()`, or more if the dtype would round 1 - epsilon to 1.
    """
    # float16 has no number between 1 - 5e-4 and 1, so a smaller margin would be rounded away.
    margin = np.maximum(config.epsilon, np.finfo(output.dtype).epsneg)
    return clip(output, margin, 1 - margin)


def binary_crossentropy(target, output, from_logits=False):
    """Return the binary crossentropy of yes-or-no predictions, element by element.

    Parameters
    ----------
    target : Tensor
        1 for yes, 0 for no.
    output : Tensor, same shape
        Probabilities, or logits (the inputs of a sigmoid) if `from_logits`.
    from_logits : bool

    Notes
    -----
    -t log(p) - (1 - t) log(1 - p), with p limited to [epsilon, 1 - epsilon].
    """
    output = floating(output)
    target = cast(as_tensor(target, like=output), output.dtype)
    if from_logits:
        return maximum(output, 0.0) - output * target + softplus(-abs(output))
    p = _probabilities(output)
    return -(target * log(p) + (1 - target) * log(1 - p))


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the crossentropy of each predicted distribution over classes.

    Parameters
    ----------
    target : Tensor, shape (..., classes)
        Distributions, most often one-hot.
    output : Tensor, same shape
        Probabilities (they are divided by their sum), or logits (the inputs of a softmax) if
        `from_logits`.
    from_logits : bool
    axis : int
        Axis of the classes.

    Returns
    -------
    Tensor, shape of `output` without `axis`

    Notes
    -----
    -sum_k t_k log(p_k), with p limited to [epsilon, 1 - epsilon].
    """
    output = floating(output)
    target = cast(as_tensor(target, like=output), output.dtype)
    if from_logits:
        return -sum(target * log_softmax(output, axis), axis)
    p = _probabilities(output / sum(output, axis, keepdims=True))
    return -sum(target * log(p), axis)


@parametric
class Pick(Op):
    """The element with index `places[i]` of each row i of `x` along `axis`."""

    axis: int
    may_refuse = True

    def infer_shape(self, x: Tensor, places: Tensor) -> Shape:
        shape = merge_shapes(reduced_shape(x.shape, (self.axis,), keepdims=False), places.shape)
        if shape is None:
            raise ShapeError(
                f"pick: expected one class number for each row of the predictions {x.shape} along "
                f"axis {self.axis}, got shape {places.shape}.",
                subject=places,
            )
        return shape

    def perform(self, x: np.ndarray, places: np.ndarray) -> np.ndarray:
        _check_classes(places, x.shape[self.axis])
        first, step = _put_along(x.shape, self.axis)
        return np.take(x, first + places * step)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        x, places = inputs
        n_classes = x.shape[self.axis]
        first, step = _put_along(x.shape, self.axis)
        chosen = np.empty(places.shape, "int64")

        def compute(out: np.ndarray, x: np.ndarray, places: np.ndarray) -> None:
            _check_classes(places, n_classes)
            np.multiply(places, step, chosen)
            np.add(first, chosen, chosen)
            x.take(chosen, None, out, "clip")

        return None if first.shape != places.shape else compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [PutPicked(self.axis)(output_grads[0], inputs[1], inputs[0]), None]


def _check_classes(places: np.ndarray, n_classes: int) -> None:
    if not are_places(places, n_classes):
        raise DataError(
            f"sparse_categorical_crossentropy: expected class numbers from 0 to {n_classes - 1}, "
            f"got {places.min()} to {places.max()}."
        )


def _put_along(shape: Sequence[int], axis: int) -> tuple[np.ndarray, int]:
    """Return the flat index of the first entry of each row, and the distance between its entries.

    A row is a line of entries along `axis`. The distance is in elements, equal for all rows.
    """
    step = math.prod(shape[axis + 1 :])
    others = (*shape[:axis], *shape[axis + 1 :])
    row = np.arange(math.prod(others)).reshape(others)
    return row + row // max(step, 1) * (shape[axis] - 1) * step, step


@parametric
class PutPicked(ShapeOfLast):
    """The gradient of `Pick`: zeros like `like`, with `x[i]` at index `places[i]` of row i."""

    axis: int
    may_refuse = True

    def perform(self, x: np.ndarray, places: np.ndarray, like: np.ndarray) -> np.ndarray:
        _check_classes(places, like.shape[self.axis])
        first, step = _put_along(like.shape, self.axis)
        whole = np.zeros(like.shape, x.dtype)
        whole.put(first + places * step, x)
        return whole

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        _, places, like = inputs
        n_classes = like.shape[self.axis]
        first, step = _put_along(like.shape, self.axis)
        chosen = np.empty(places.shape, "int64")

        def compute(out: np.ndarray, x: np.ndarray, places: np.ndarray, like: np.ndarray) -> None:
            _check_classes(places, n_classes)
            np.multiply(places, step, chosen)
            np.add(first, chosen, chosen)
            out.fill(0)
            out.put(chosen, x)

        return None if first.shape != places.shape else compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Pick(self.axis)(output_grads[0], inputs[1]), None, None]


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the categorical crossentropy for targets that are class numbers.

    Parameters
    ----------
    target : Tensor, shape of `output` without `axis`, or with size 1 along `axis`
        Class numbers, ints or whole floats.
    output : Tensor, shape (..., classes)
        Probabilities (limited to [epsilon, 1 - epsilon], then divided by their sum), or logits.
    from_logits : bool
    axis : int

    Returns
    -------
    Tensor, shape of `output` without `axis`

    Raises
    ------
    DataError
        At run time: a class number is out of range.
    """
    output = floating(output)
    axis = normalize_axis(axis, output.ndim, "K.sparse_categorical_crossentropy")
    target = cast(target, "int64")
    if target.ndim == output.ndim:
        target = Squeeze((axis,))(target)
    logits = output if from_logits else log(_probabilities(output))
    return -Pick(axis)(log_softmax(logits, axis), target)

"""Crossentropies: how far predicted probabilities are from what was wanted."""

from __future__ import annotations

import math

import numpy as np

from kerascope.backend.graph import Op, as_tensor, parametric
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import abs, clip, floating, log, maximum
from kerascope.backend.ops.gathering import are_places
from kerascope.backend.ops.nn import log_softmax, softplus
from kerascope.backend.ops.reduction import sum
from kerascope.backend.ops.shaping import Squeeze
from kerascope.backend.shapes import merge_shapes, normalize_axis, reduced_shape
from kerascope.errors import DataError, ShapeError
from kerascope.settings import config

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "sparse_categorical_crossentropy",
]


def _probabilities(output):
    """Return probabilities kept so far from 0 and 1 that their logarithms are finite."""
    # float16 holds no number between 1 - 5e-4 and 1: a smaller margin would vanish.
    margin = np.maximum(config.epsilon, np.finfo(output.dtype).epsneg)
    return clip(output, margin, 1 - margin)


def binary_crossentropy(target, output, from_logits=False):
    """Return the crossentropy of yes-or-no predictions, element by element.

    Parameters
    ----------
    target : Tensor
        1 for yes, 0 for no.
    output : Tensor, same shape
        Probabilities, or with `from_logits` what a sigmoid would turn into them.
    from_logits : bool

    Notes
    -----
    -t log(p) - (1 - t) log(1 - p), with p kept in [epsilon, 1 - epsilon].
    """
    output = floating(output)
    target = cast(as_tensor(target, like=output), output.dtype)
    if from_logits:
        return maximum(output, 0.0) - output * target + softplus(-abs(output))
    p = _probabilities(output)
    return -(target * log(p) + (1 - target) * log(1 - p))


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the crossentropy of predicted distributions: one number for each.

    Parameters
    ----------
    target : Tensor, shape (..., classes)
        Distributions, most often one-hot.
    output : Tensor, same shape
        Probabilities (they are divided by their sum), or with `from_logits` what a softmax would
        turn into them. from_logits : bool
    axis : int
        Where the classes lie.

    Returns
    -------
    Tensor, shape of `output` without `axis`

    Notes
    -----
    -sum_k t_k log(p_k), with p kept in [epsilon, 1 - epsilon].
    """
    output = floating(output)
    target = cast(as_tensor(target, like=output), output.dtype)
    if from_logits:
        return -sum(target * log_softmax(output, axis), axis)
    p = _probabilities(output / sum(output, axis, keepdims=True))
    return -sum(target * log(p), axis)


@parametric
class Pick(Op):
    """The one element of each row along `axis` of `x` that `places` names."""

    axis: int
    may_refuse = True

    def infer_shape(self, x, places):
        shape = merge_shapes(reduced_shape(x.shape, (self.axis,), keepdims=False), places.shape)
        if shape is None:
            raise ShapeError(
                f"pick: class numbers of shape {places.shape} for predictions of shape {x.shape}; "
                f"expected one for each row along axis {self.axis}.",
                subject=places,
            )
        return shape

    def perform(self, x, places):
        _check_classes(places, x.shape[self.axis])
        first, step = _along(x.shape, self.axis)
        return np.take(x, first + places * step)

    def kernel(self, inputs, outputs):
        x, places = inputs
        n_classes = x.shape[self.axis]
        first, step = _along(x.shape, self.axis)
        chosen = np.empty(places.shape, "int64")

        def compute(out, x, places):
            _check_classes(places, n_classes)
            np.multiply(places, step, chosen)
            np.add(first, chosen, chosen)
            x.take(chosen, None, out, "clip")

        return None if first.shape != places.shape else compute

    def grad(self, inputs, outputs, output_grads):
        return [PutPicked(self.axis)(output_grads[0], inputs[1], inputs[0]), None]


def _check_classes(places, n_classes):
    if not are_places(places, n_classes):
        raise DataError(
            f"sparse_categorical_crossentropy: class numbers from {places.min()} to "
            f"{places.max()}; expected 0 to {n_classes - 1}."
        )


def _along(shape, axis):
    """Return where, in all numbers of an array, each row along `axis` starts, and its step."""
    step = math.prod(shape[axis + 1 :])
    others = (*shape[:axis], *shape[axis + 1 :])
    row = np.arange(math.prod(others)).reshape(others)
    return row + row // max(step, 1) * (shape[axis] - 1) * step, step


@parametric
class PutPicked(Op):
    """Zeros with the shape of `like`; in each row along `axis` an element of `x` at its place."""

    axis: int
    may_refuse = True

    def infer_shape(self, x, places, like):
        return like.shape

    def perform(self, x, places, like):
        _check_classes(places, like.shape[self.axis])
        first, step = _along(like.shape, self.axis)
        whole = np.zeros(like.shape, x.dtype)
        whole.put(first + places * step, x)
        return whole

    def kernel(self, inputs, outputs):
        _, places, like = inputs
        n_classes = like.shape[self.axis]
        first, step = _along(like.shape, self.axis)
        chosen = np.empty(places.shape, "int64")

        def compute(out, x, places, like):
            _check_classes(places, n_classes)
            np.multiply(places, step, chosen)
            np.add(first, chosen, chosen)
            out.fill(0)
            out.put(chosen, x)

        return None if first.shape != places.shape else compute

    def grad(self, inputs, outputs, output_grads):
        return [Pick(self.axis)(output_grads[0], inputs[1]), None, None]


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return `categorical_crossentropy` where the targets are class numbers.

    Parameters
    ----------
    target : Tensor, shape of `output` without `axis`, or with size 1 there
        Class numbers, ints or whole floats.
    output : Tensor, shape (..., classes)
        Probabilities (kept in [epsilon, 1 - epsilon], then divided by their sum), or logits.
    from_logits : bool
    axis : int

    Returns
    -------
    Tensor, shape of `output` without `axis`

    Raises
    ------
    DataError
        At run time: a class number is not among the classes.
    """
    output = floating(output)
    axis = normalize_axis(axis, output.ndim, "K.sparse_categorical_crossentropy")
    target = cast(target, "int64")
    if target.ndim == output.ndim:
        target = Squeeze((axis,))(target)
    logits = output if from_logits else log(_probabilities(output))
    return -Pick(axis)(log_softmax(logits, axis), target)

"""Activation functions: what a layer applies to each number that it computes.

`Dense(10, activation="softmax")` finds them by name through `get`; None is `linear`. Each is a
function from a tensor to a tensor, so a model may also call it directly. Keras keeps them under the
same names in `keras.activations`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.errors import ShapeError
from kerascope.registry import Registry

_registry = Registry("activation")

Activation = Callable[..., Tensor]

# Klambauer et al. chose these two so that mean 0 and variance 1 are a fixed point of a layer.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


@_registry.register
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return positive numbers that sum to 1 along an axis.

    Parameters
    ----------
    x : Tensor, at least 2 axes, float
    axis : int
        The axis of the classes.

    Returns
    -------
    Tensor
        Of the same shape.

    Raises
    ------
    ShapeError
        `x` has fewer than two axes.

    Notes
    -----
    softmax(x)_i = exp(x_i) / sum_j exp(x_j), with the greatest x_j subtracted first so that exp
    cannot overflow.
    On an axis of size 1 it is always 1 and its gradient 0: such a layer never learns. Use `sigmoid`
    there.

    Examples
    --------
    >>> K.eval(softmax(K.constant([[0.0, 0.0], [1000.0, 0.0]]))).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    if K.ndim(x) < 2:
        raise ShapeError(
            f"softmax: input has shape {K.int_shape(x)}; expected at least 2 axes. "
            f"Cannot apply softmax to a tensor that is {K.ndim(x)}D: add a batch axis.",
            subject=x,
        )
    return K.softmax(x, axis=axis)


@_registry.register
def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return x where it is positive, else `alpha * (exp(x) - 1)`.

    References
    ----------
    1. Clevert, Unterthiner, Hochreiter: Fast and Accurate Deep Network Learning by Exponential
       Linear Units, 2015.
    """
    return K.elu(x, alpha)


@_registry.register
def selu(x: Tensor) -> Tensor:
    """Return `scale * elu(x, alpha)` with the two constants that keep mean 0 and variance 1.

    Use it with the initializer "lecun_normal" and `AlphaDropout`.

    References
    ----------
    1. Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks, 2017.
    """
    return SELU_SCALE * K.elu(x, SELU_ALPHA)


@_registry.register
def softplus(x: Tensor) -> Tensor:
    """Return `log(1 + exp(x))`, a smooth `relu`."""
    return K.softplus(x)


@_registry.register
def softsign(x: Tensor) -> Tensor:
    """Return `x / (1 + |x|)`."""
    return K.softsign(x)


@_registry.register
def relu(
    x: Tensor, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Tensor:
    """Return x where it is positive, else 0.

    Parameters
    ----------
    x : Tensor, float
    alpha : float
        Slope below the threshold.
    max_value : float, optional
        Upper bound of the result.
    threshold : float
        Below it the result is `alpha * (x - threshold)`.

    Examples
    --------
    >>> K.eval(relu(K.constant([-2.0, 0.5, 9.0]), alpha=0.5, max_value=6.0)).tolist()
    [-1.0, 0.5, 6.0]
    """
    return K.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


@_registry.register
def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent, between -1 and 1."""
    return K.tanh(x)


@_registry.register
def sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))`, between 0 and 1."""
    return K.sigmoid(x)


@_registry.register
def hard_sigmoid(x: Tensor) -> Tensor:
    """Return `0.2 * x + 0.5` cut off at 0 and 1: a sigmoid made of three straight lines.

    Notes
    -----
    Keras 3 draws the middle line as `x / 6 + 0.5`.
    """
    return K.hard_sigmoid(x)


@_registry.register
def exponential(x: Tensor) -> Tensor:
    """Return `exp(x)`."""
    return K.exp(x)


@_registry.register
def linear(x: Tensor) -> Tensor:
    """Return x itself."""
    return x


serialize = _registry.serialize
deserialize = _registry.deserialize


def get(identifier: Any) -> Activation:
    """Return an activation by name; None is `linear`, and a callable is itself.

    Raises
    ------
    UnknownNameError
        No activation has this name; the message suggests the nearest one.

    Examples
    --------
    >>> get(None).__name__, get("relu").__name__
    ('linear', 'relu')
    """
    return linear if identifier is None else _registry.get(identifier)

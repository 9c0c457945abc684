"""A choice between two tensors at run time, and an op that prints the value of a tensor."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import Any

import numpy as np

from kerascope.backend.graph import Op, ShapeOfFirst, as_tensor, parametric
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.ops.broadcasting import promoted, unbroadcast
from kerascope.backend.ops.shaping import ExpandDims
from kerascope.backend.shapes import broadcast_shapes
from kerascope.backend.types import Gradients, Kernel, Shape, Specs, Tensor, TensorLike, Tensors
from kerascope.errors import ShapeError

__all__ = ["print_tensor", "switch"]


class Switch(Op):
    """`x` if the scalar `condition` is true, otherwise `y`. Only the chosen tensor is computed."""

    lazy = MappingProxyType({1: True, 2: False})

    def infer_shape(self, condition: Tensor, x: Tensor, y: Tensor) -> Shape:
        return tuple(a if a == b else None for a, b in zip(x.shape, y.shape, strict=True))

    def infer_dtype(self, condition: Tensor, x: Tensor, y: Tensor) -> str:
        return x.dtype

    def may_share(self, inputs, outputs):
        return (0, 1), (0, 2)

    def perform(self, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x if condition else y

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [None, output_grads[0], output_grads[0]]


class Where(Op):
    """The elements of `x` where `condition` is true, those of `y` elsewhere.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.constant([3.0, -2.0])
    >>> K.eval(Where()(K.greater(x, 0), x, K.zeros_like(x))).tolist()
    [3.0, 0.0]
    """

    def infer_shape(self, *inputs: Tensor) -> Shape:
        return broadcast_shapes(*(x.shape for x in inputs), where="where")

    def infer_dtype(self, condition: Tensor, x: Tensor, y: Tensor) -> str:
        return x.dtype

    def perform(
        self, condition: np.ndarray, x: np.ndarray, y: np.ndarray, xp: Any = np
    ) -> np.ndarray:
        return xp.where(condition, x, y)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        condition, x, y = inputs
        if condition.dtype != bool or x.dtype != y.dtype:
            return None
        # `putmask` is faster, but does not broadcast.
        if condition.shape == x.shape == outputs[0].shape:
            return _put_where
        return _copy_where

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        condition, x, y = inputs
        g = output_grads[0]
        zero = as_tensor(0, like=g)
        to_x, to_y = Where()(condition, g, zero), Where()(condition, zero, g)
        return [None, unbroadcast(to_x, x, condition, y), unbroadcast(to_y, y, condition, x)]


def _put_where(out: np.ndarray, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    np.copyto(out, y)
    np.putmask(out, condition, x)


def _copy_where(out: np.ndarray, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    np.copyto(out, y)
    np.copyto(out, x, where=condition)


def switch(condition, then_expression, else_expression):
    """Return `then_expression` where a condition is true at run time, otherwise `else_expression`.

    Parameters
    ----------
    condition : Tensor
        A scalar chooses one of the expressions. A larger condition chooses for each element. If it
        has fewer axes than the expressions, it is aligned with their first axes.
    then_expression, else_expression : Tensor or callable
        A callable is called without arguments, once, when the graph is made. With a scalar
        condition only the chosen expression is computed, otherwise both are. The gradient flows
        only into the chosen expression, or the chosen elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.constant([-1.0, 2.0])
    >>> K.eval(K.switch(x > 0, x, 10 * x)).tolist()
    [-10.0, 2.0]
    """
    condition = as_tensor(condition)
    x = then_expression() if callable(then_expression) else then_expression
    y = else_expression() if callable(else_expression) else else_expression
    x, y = promoted(x, y)
    if condition.ndim == 0 and x.ndim == y.ndim:
        return Switch()(condition, x, y)
    ndim = max(x.ndim, y.ndim)
    if condition.ndim > ndim:
        raise ShapeError(
            f"K.switch: expected a condition with at most {ndim} axes, as the expressions "
            f"{x.shape} and {y.shape} have, got {condition.shape}.",
            subject=condition,
        )
    if 0 < condition.ndim < ndim:
        condition = ExpandDims(tuple(range(condition.ndim, ndim)))(condition)
    return Where()(condition, x, y)


# --- printing -------------------------------------------------------------------------------------


@parametric
class PrintTensor(ShapeOfFirst):
    """`x` itself. Whenever this op is computed, `message` and the value of `x` are printed."""

    message: str
    is_pure = False

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def perform(self, x: np.ndarray) -> np.ndarray:
        sys.stdout.write(f"{self.message}{x}\n")
        return x

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [output_grads[0]]


def print_tensor(x: TensorLike, message: str = "") -> Tensor:
    """Return a tensor equal to `x` that prints its value whenever it is computed.

    Parameters
    ----------
    x : Tensor
    message : str
        Text printed before the value.

    Returns
    -------
    Tensor
        Use this tensor instead of `x`. If no output depends on it, it is neither computed nor
        printed.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y = K.print_tensor(K.constant([1.0, 2.0]), message="x is ") * 3
    >>> K.eval(y).tolist()
    x is [1. 2.]
    [3.0, 6.0]
    """
    return PrintTensor(str(message))(as_tensor(x))
